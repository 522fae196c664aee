#include "sim/collectives/reduce_scatter.hpp"

#include <utility>

#include "sim/collectives/schedule.hpp"

namespace paceline {

namespace {

// Runs n-1 steps around the ring. Each member sends chunk `first`, then always the chunk below.
Task<> pass_chunks(Rank self, Bytes size, int first) {
    const int n = self.size();
    const int next = wrapped(self.place() + 1, n);
    const int prev = wrapped(self.place() + n - 1, n);

    int index = first;
    for (int step = 0; step < n - 1; ++step) {
        co_await self.exchange(next, chunk(size, n, index), prev);
        index = wrapped(index + n - 1, n);
    }
}

}  // namespace

Task<> ring_reduce_scatter(Rank self, Bytes size) {
    const int first = wrapped(self.place() + self.size() - 1, self.size());
    return pass_chunks(std::move(self), size, first);
}

Task<> ring_all_gather_chunks(Rank self, Bytes size) {
    const int first = self.place();
    return pass_chunks(std::move(self), size, first);
}

}  // namespace paceline
