// Loops whose iterations may run at the same time. oneTBB runs them (parallel.cpp).
//
// A program may bring a thread_library() of its own, which the linker then takes. That of paceline
// loads oneTBB at the first loop (app/host/parallel_plugin.cpp): it is a tenth of a small run.
//
// Built with PACELINE_THREADS=0 (CMake's PACELINE_EMBEDDED), iterations run one after the other on
// the caller's thread, and no thread library is needed. Results are the same bytes either way: an
// iteration reads what the others do not change, and sums are formed in an order of their own.
#pragma once

#include <cstddef>

#if PACELINE_THREADS
#include <map>
#include <mutex>
#include <thread>
#endif

namespace paceline {

#if PACELINE_THREADS
using Mutex = std::mutex;
using Lock = std::scoped_lock<Mutex>;

/// What runs the loops.
struct ThreadLibrary {
    /// Calls call(body, i) for each i below count, as parallel_for does.
    void (*for_each)(std::size_t count, void (*call)(const void* body, std::size_t i),
                     const void* body);
    /// Begin and end a limit; end_limit takes what limit has returned.
    void* (*limit)(std::size_t threads);
    void (*end_limit)(void* limit);
};
const ThreadLibrary& thread_library();

/// While it lives, loops use at most this number of threads, the caller's among them. Of several
/// limits, the lowest applies.
class ThreadLimit {
  public:
    explicit ThreadLimit(std::size_t threads) : limit_(thread_library().limit(threads)) {}
    ThreadLimit(const ThreadLimit&) = delete;
    ThreadLimit& operator=(const ThreadLimit&) = delete;
    ~ThreadLimit() { thread_library().end_limit(limit_); }

  private:
    void* limit_;
};
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
    const auto call = [](const void* of, std::size_t i) { (*static_cast<const Body*>(of))(i); };
    thread_library().for_each(count, call, &body);
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
        const Lock lock(mutex_);
        return locals_[std::this_thread::get_id()];
#else
        return local_;
#endif
    }

  private:
#if PACELINE_THREADS
    Mutex mutex_;
    std::map<std::thread::id, T> locals_;
#else
    T local_;
#endif
};

}  // namespace paceline
