#include "sim/engine/frame_pool.hpp"

#include <bit>
#include <new>

namespace paceline {

// glibc ends the program where it finds no memory to register the destructor of a thread_local
// object. A block of this size goes back to where that memory is taken from, so that too little of
// it is an exception instead.
FramePool::FramePool() {
    ::operator delete(::operator new(4096));
}

FramePool& FramePool::of_thread() {
    thread_local FramePool pool;
    return pool;
}

void* FramePool::take(std::size_t size) {
    if (!keeps_frames || size > largest) return ::operator new(size);
    const std::size_t place = place_of(size);
    Free*& first = free_[place];
    if (first == nullptr) return make(place);
    Free* const frame = first;
    first = frame->next;
    return frame;
}

// Returns the next larger size of which there may be frames; `places` if there is none.
std::size_t FramePool::next_with_frames(std::size_t place) const {
    std::size_t word = ++place / places_in_word;
    if (word == has_frames_.size()) return places;
    std::uint64_t bits = has_frames_[word] & (~std::uint64_t{0} << place % places_in_word);
    while (bits == 0 && ++word < has_frames_.size()) bits = has_frames_[word];
    return bits == 0 ? places
                     : word * places_in_word + static_cast<std::size_t>(std::countr_zero(bits));
}

void* FramePool::make(std::size_t place) {
    for (std::size_t larger = next_with_frames(place); larger < places;
         larger = next_with_frames(larger)) {
        Free*& first = free_[larger];
        if (first != nullptr) {
            Free* const frame = first;
            first = frame->next;
            ::operator delete(frame);
            break;
        }
        has_frames_[larger / places_in_word] &= ~(std::uint64_t{1} << larger % places_in_word);
    }
    return ::operator new(place * step + more);
}

void FramePool::give_back(void* memory, std::size_t size) noexcept {
    if (!keeps_frames || size > largest) return ::operator delete(memory);
    const std::size_t place = place_of(size);
    free_[place] = new (memory) Free{free_[place]};
    has_frames_[place / places_in_word] |= std::uint64_t{1} << place % places_in_word;
}

FramePool::~FramePool() {
    for (Free*& first : free_)
        while (first != nullptr) {
            Free* const frame = first;
            first = frame->next;
            ::operator delete(frame);
        }
}

}  // namespace paceline
