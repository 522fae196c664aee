#include "app/study/on_threads.hpp"

#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace paceline {

void on_threads(int threads, std::size_t count, const std::function<void(std::size_t)>& body) {
    std::atomic<std::size_t> next{0};
    std::mutex mutex;
    std::exception_ptr failure;
    const auto work = [&] {
        for (std::size_t i = next++; i < count; i = next++) {
            try {
                body(i);
            } catch (...) {
                const std::scoped_lock lock(mutex);
                failure = std::current_exception();
                next = count;
            }
        }
    };
    {
        std::vector<std::jthread> workers;
        for (int i = 1; i < threads; ++i) workers.emplace_back(work);
        work();
    }
    if (failure) std::rethrow_exception(failure);
}

}  // namespace paceline
