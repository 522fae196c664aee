#include "sim/collectives/pipelined.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "sim/collectives/chunks.hpp"
#include "sim/collectives/in_rounds.hpp"
#include "sim/collectives/inside_machine.hpp"

namespace paceline {

namespace {

// Slices that go down the places, or up; the last place of the chain sends nothing.
Task<> chain(Rank self, Bytes size, const Slices& cut, int down) {
    const int n = self.size();
    const int count = slices_of(size, cut);
    const auto place_or_none = [n](int place) { return place >= 0 && place < n ? place : -1; };
    const auto who = [=](int place, int) -> RoundOfMember {
        return {place_or_none(place + down), place_or_none(place - down)};
    };
    const auto slice = [size, count](int, int round) { return chunk(size, count, round); };
    return in_rounds(std::move(self),
                     {.members = n,
                      .count = n == 1 ? 0 : count,
                      .partners = down > 0 ? Partners::chain_down : Partners::chain_up,
                      .who = who,
                      .size = slice,
                      .in_flight = cut.in_flight,
                      .relays = true,
                      .slots = cut.slots});
}

// A ring of chunks that are cut into slices.
RingOfChunks sliced_ring(int n, int steps, Bytes size, int first, const Slices& cut) {
    return {.steps = steps,
            .first = first,
            .size = size,
            .slices = slices_of(chunk(size, n, n - 1), cut),
            .in_flight = cut.in_flight,
            .slots = cut.slots};
}

}  // namespace

int slices_of(Bytes part, const Slices& cut) {
    const std::int64_t count = (part.count + cut.slice.count - 1) / cut.slice.count;
    return static_cast<int>(std::clamp<std::int64_t>(count, 1, 1 << 30));
}

Task<> pipelined_ring_all_reduce(Rank self, Bytes size, Slices cut) {
    const int n = self.size();
    return in_ring(std::move(self), sliced_ring(n, 2 * (n - 1), size, 0, cut));
}

Task<> pipelined_ring_reduce(Rank self, Bytes size, Slices cut) {
    const int n = self.size();
    if (n == 1) co_return;
    co_await in_ring(self, sliced_ring(n, n - 1, size, n - 1, cut));
    co_await gather_to_first(self, [size, n](int place) { return chunk(size, n, place); });
}

Task<> pipelined_ring_reduce_scatter(Rank self, Bytes size, Slices cut) {
    const int n = self.size();
    return in_ring(std::move(self), sliced_ring(n, n - 1, size, n - 1, cut));
}

Task<> pipelined_ring_all_gather(Rank self, Bytes size, Slices cut) {
    const int n = self.size();
    return in_ring(std::move(self), sliced_ring(n, n - 1, size, 0, cut));
}

Task<> chain_broadcast(Rank self, Bytes size, Slices cut) {
    return chain(std::move(self), size, cut, 1);
}

Task<> chain_reduce(Rank self, Bytes size, Slices cut) {
    return chain(std::move(self), size, cut, -1);
}

}  // namespace paceline
