#include "sim/collectives/pipelined.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/collectives/inside_machine.hpp"
#include "sim/collectives/schedule.hpp"
#include "sim/engine/concurrency.hpp"

namespace paceline {

namespace {

// Slices of a member's chunks, in the order in which it sends them: chunk `first`, then always the chunk
// below.
struct RingSlices {
    Bytes size;
    int first;
    int steps;
    int per_chunk;

    [[nodiscard]] int count() const { return steps * per_chunk; }
    [[nodiscard]] Bytes of(int q, int n) const {
        const int step = q / per_chunk;
        const int index = ((first - step) % n + n) % n;
        return chunk(chunk(size, n, index), per_chunk, q % per_chunk);
    }
};

// Carries slices lane, lane + lanes, ...
Task<> carry_ring_lane(Rank self, RingSlices slices, int lane, int lanes) {
    const int n = self.size();
    const int next = wrapped(self.place() + 1, n);
    const int prev = wrapped(self.place() + n - 1, n);
    for (int q = lane; q < slices.count(); q += lanes)
        co_await self.exchange(next, slices.of(q, n), prev);
}

Task<> carry_ring(Rank self, RingSlices slices, int in_flight) {
    const int lanes = std::min({in_flight, slices.per_chunk, slices.count()});
    std::vector<Task<>> all;
    for (int lane = 0; lane < lanes; ++lane)
        all.push_back(carry_ring_lane(self, slices, lane, lanes));
    co_await when_all(std::move(all));
}

// Passes slices on from one neighbor to the other; negative places do not exist.
struct Chain {
    int from;
    int to;
    Bytes size;
    int slices;
};

Task<> carry_chain_lane(Rank self, Chain chain, int lane, int lanes) {
    for (int j = lane; j < chain.slices; j += lanes) {
        if (chain.from >= 0) co_await self.receive(chain.from);
        if (chain.to >= 0) co_await self.send(chain.to, chunk(chain.size, chain.slices, j));
    }
}

Task<> carry_chain(Rank self, Chain chain, int in_flight) {
    const int lanes = std::min(in_flight, chain.slices);
    std::vector<Task<>> all;
    for (int lane = 0; lane < lanes; ++lane)
        all.push_back(carry_chain_lane(self, chain, lane, lanes));
    co_await when_all(std::move(all));
}

}  // namespace

int slices_of(Bytes part, const Slices& cut) {
    const std::int64_t count = (part.count + cut.slice.count - 1) / cut.slice.count;
    return static_cast<int>(std::clamp<std::int64_t>(count, 1, 1 << 30));
}

Task<> pipelined_ring_all_reduce(Rank self, Bytes size, Slices cut) {
    const int n = self.size();
    if (n == 1) co_return;
    const int per_chunk = slices_of(chunk(size, n, n - 1), cut);
    co_await carry_ring(self, {size, self.place(), 2 * (n - 1), per_chunk}, cut.in_flight);
}

Task<> pipelined_ring_reduce(Rank self, Bytes size, Slices cut) {
    const int n = self.size();
    if (n == 1) co_return;
    const int per_chunk = slices_of(chunk(size, n, n - 1), cut);
    co_await carry_ring(self, {size, wrapped(self.place() + n - 1, n), n - 1, per_chunk},
                        cut.in_flight);
    co_await gather_to_first(self, [size, n](int place) { return chunk(size, n, place); });
}

Task<> chain_broadcast(Rank self, Bytes size, Slices cut) {
    const int last = self.size() - 1;
    const int place = self.place();
    co_await carry_chain(self,
                         {place - 1, place < last ? place + 1 : -1, size, slices_of(size, cut)},
                         cut.in_flight);
}

Task<> chain_reduce(Rank self, Bytes size, Slices cut) {
    const int last = self.size() - 1;
    const int place = self.place();
    co_await carry_chain(self,
                         {place < last ? place + 1 : -1, place - 1, size, slices_of(size, cut)},
                         cut.in_flight);
}

}  // namespace paceline
