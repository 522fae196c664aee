// Memory of coroutine frames: freed frames are kept, by size, for the next coroutine.
//
// A simulation makes a frame for each task that it begins, and thousands of them live at a time.
// There are few sizes of frames, so nearly every frame takes the place of one that was freed: a
// pointer is moved, and no general allocator is asked. Each thread keeps its own frames, without
// locks. A frame may be freed on another thread than it was made on.
//
// Memory: what the frames of a thread took at their peak, until the thread ends. Frames above
// `largest` bytes are not kept. With the address sanitizer none is, so that it sees every use of a
// frame after its end.
#pragma once

#include <cstddef>

namespace paceline {

class FramePool {
  public:
    static constexpr std::size_t largest = 2048;  // bytes
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
    static constexpr std::size_t step = 64;  // between sizes that are told apart

    [[nodiscard]] static constexpr std::size_t place_of(std::size_t size) {
        return (size + step - 1) / step;
    }

    Free* free_[largest / step + 1] = {};  // by size, in steps
};

}  // namespace paceline
