// Memory of coroutine frames: freed frames are kept, by size, for the next coroutine.
//
// A simulation makes a frame for each task that it begins, and thousands of them live at a time.
// There are few sizes of frames, so nearly every frame takes the place of one that was freed: a
// pointer is moved, and no general allocator is asked. Each thread keeps its own frames, without
// locks. A frame may be freed on another thread than it was made on.
//
// Where no frame of a size is left, a larger one goes back to the general allocator, which makes
// smaller ones of it: what thousands of workers needed in one part of a step serves the next part.
//
// Memory: at most what the frames of each size took at their peak, until the thread ends. Frames
// above `largest` bytes are not kept. With the address sanitizer none is, so that it sees every use
// of a frame after its end.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace paceline {

class FramePool {
  public:
    static constexpr std::size_t largest = 2040;  // bytes
#if defined(__SANITIZE_ADDRESS__)
    static constexpr bool keeps_frames = false;
#elif defined(__has_feature)
    static constexpr bool keeps_frames = !__has_feature(address_sanitizer);
#else
    static constexpr bool keeps_frames = true;
#endif

    /// Throws std::bad_alloc where a thread has no memory left for a pool.
    FramePool();
    FramePool(const FramePool&) = delete;
    FramePool& operator=(const FramePool&) = delete;
    ~FramePool();

    /// Returns memory of at least `size` > 0 bytes, aligned for any ordinary type.
    [[nodiscard]] void* take(std::size_t size);
    /// Takes memory back. Requires the size that it was taken with.
    void give_back(void* memory, std::size_t size) noexcept;

    /// Returns the pool of the current thread.
    [[nodiscard]] static FramePool& of_thread();

  private:
    struct Free {
        Free* next;
    };
    // Sizes that are told apart: multiples of 16 and 8 more, which are what blocks of glibc hold.
    static constexpr std::size_t step = 16;
    static constexpr std::size_t more = 8;
    static constexpr std::size_t places = (largest - more) / step + 1;
    static constexpr std::size_t places_in_word = 64;

    [[nodiscard]] static constexpr std::size_t place_of(std::size_t size) {
        return size <= more ? 0 : (size - more + step - 1) / step;
    }
    [[nodiscard]] void* make(std::size_t place);
    [[nodiscard]] std::size_t next_with_frames(std::size_t place) const;

    std::array<Free*, places> free_{};  // by size, in steps
    // One bit for each size of which there may be frames.
    std::array<std::uint64_t, (places + places_in_word - 1) / places_in_word> has_frames_{};
};

}  // namespace paceline
