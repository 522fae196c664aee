// Loops whose iterations may run at the same time: the one place that names oneTBB.
//
// Built with PACELINE_THREADS=0 (CMake's PACELINE_EMBEDDED), iterations run one after the other on
// the caller's thread, and no thread library is needed. Results are the same bytes either way: an
// iteration reads what the others do not change, and sums are formed in an order of their own.
#pragma once

#include <cstddef>

#if PACELINE_THREADS
#include <mutex>

#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>
#endif

namespace paceline {

#if PACELINE_THREADS
using Mutex = std::mutex;
using Lock = std::scoped_lock<Mutex>;
#else
struct Mutex {};
struct [[maybe_unused]] Lock {
    explicit Lock(Mutex& /*mutex*/) {}
};
#endif

/// Calls `body` with 0, 1, ..., count - 1, and returns when all calls have returned. Rethrows what
/// a call has thrown.
template <class Body>
void parallel_for(std::size_t count, const Body& body) {
#if PACELINE_THREADS
    tbb::parallel_for(std::size_t{0}, count, body);
#else
    for (std::size_t i = 0; i < count; ++i) body(i);
#endif
}

/// Holds a T for each thread that asks for its own, for scratch space.
template <class T>
class PerThread {
  public:
    T& local() {
#if PACELINE_THREADS
        return locals_.local();
#else
        return local_;
#endif
    }

  private:
#if PACELINE_THREADS
    tbb::enumerable_thread_specific<T> locals_;
#else
    T local_;
#endif
};

}  // namespace paceline
