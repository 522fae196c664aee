#include "models/tensors/parallel.hpp"

#include <tbb/global_control.h>
#include <tbb/parallel_for.h>

namespace paceline {

const ThreadLibrary& thread_library() {
    static constexpr ThreadLibrary one_tbb{
        [](std::size_t count, void (*call)(const void*, std::size_t), const void* body) {
            tbb::parallel_for(std::size_t{0}, count, [&](std::size_t i) { call(body, i); });
        },
        [](std::size_t threads) -> void* {
            return new tbb::global_control(tbb::global_control::max_allowed_parallelism, threads);
        },
        [](void* limit) { delete static_cast<tbb::global_control*>(limit); }};
    return one_tbb;
}

}  // namespace paceline
