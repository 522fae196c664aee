#include "sim/collectives/tree.hpp"

#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/engine/concurrency.hpp"

namespace paceline {

namespace {

// Returns the first step of a broadcast in which a place sends. It receives in the step before,
// except for the root, which never receives.
int first_step(int place) {
    return static_cast<int>(std::bit_width(static_cast<std::uint32_t>(place)));
}

// Returns the end of the steps in which a place has a partner above it.
int end_step(int place, int n) {
    int step = first_step(place);
    while (place + (std::int64_t{1} << step) < n) ++step;
    return step;
}

Task<> send_to(Rank self, int to, Bytes size) {
    co_await self.send(to, size);
}

}  // namespace

Task<> binomial_broadcast(Rank self, Bytes size) {
    const int place = self.place();
    const int first = first_step(place);
    const int end = end_step(place, self.size());

    if (place > 0) co_await self.receive(place - (1 << (first - 1)));
    for (int step = first; step < end; ++step) co_await self.send(place + (1 << step), size);
}

Task<> broadcast_at_once(Rank self, Bytes size) {
    const int place = self.place();
    const int first = first_step(place);
    const int end = end_step(place, self.size());

    if (place > 0) co_await self.receive(place - (1 << (first - 1)));
    std::vector<Task<>> all;
    for (int step = first; step < end; ++step)
        all.push_back(send_to(self, place + (1 << step), size));
    co_await when_all(std::move(all));
}

Task<> binomial_reduce(Rank self, Bytes size) {
    const int place = self.place();
    const int first = first_step(place);
    const int end = end_step(place, self.size());

    for (int step = end; step > first; --step) co_await self.receive(place + (1 << (step - 1)));
    if (place > 0) co_await self.send(place - (1 << (first - 1)), size);
}

Task<> tree_all_reduce(Rank self, Bytes size) {
    co_await binomial_reduce(self, size);
    co_await binomial_broadcast(self, size);
}

}  // namespace paceline
