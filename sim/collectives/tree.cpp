#include "sim/collectives/tree.hpp"

#include <bit>
#include <cstdint>

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

}  // namespace

Task<> binomial_broadcast(Rank self, Bytes size) {
    const int place = self.place();
    const int first = first_step(place);
    const int end = end_step(place, self.size());

    if (place > 0) co_await self.receive(place - (1 << (first - 1)));
    for (int step = first; step < end; ++step) co_await self.send(place + (1 << step), size);
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
