#include "sim/engine/frame_pool.hpp"

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
    Free*& first = free_[place_of(size)];
    if (first == nullptr) return ::operator new(place_of(size) * step);
    Free* const frame = first;
    first = frame->next;
    return frame;
}

void FramePool::give_back(void* memory, std::size_t size) noexcept {
    if (!keeps_frames || size > largest) return ::operator delete(memory);
    Free*& first = free_[place_of(size)];
    first = new (memory) Free{first};
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
