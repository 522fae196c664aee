// When members of collectives in rounds end on an idle star, by recurrence: in a round a member
// sends one message and receives one, by rendezvous. No two messages share a link, so
//
//   start(i -> j)  =  max(ready_i, ready_j)
//   ready_i'       =  the later of  start(i -> to) + t(sent)  and  start(from -> i) + t(received) +
//                                   L
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <random>
#include <vector>

#include "analysis/forms/closed_forms.hpp"
#include "sim/engine/units.hpp"

namespace paceline {

using Blocks = std::vector<Bytes>;       // by place
using Instants = std::vector<Duration>;  // by place

inline Blocks random_blocks(std::mt19937_64& rng, int n) {
    Blocks blocks(static_cast<std::size_t>(n));
    for (Bytes& block : blocks)
        block = Bytes{static_cast<std::int64_t>(rng() % 3 == 0 ? rng() % 100 : rng() % 100'000)};
    return blocks;
}

/// Returns the instants after a round in which place i sends `sent(i)` to the place `distance` on.
inline Instants after_round(const Instants& ready, std::size_t distance,
                            const std::function<Bytes(std::size_t)>& sent, const IdleStar& star) {
    const std::size_t n = ready.size();
    Instants after(n);
    for (std::size_t i = 0; i < n; ++i) {
        const std::size_t to = (i + distance) % n;
        const std::size_t from = (i + n - distance) % n;
        const Duration drained = std::max(ready[i], ready[to]) + sent(i) / star.bandwidth;
        const Duration delivered =
            std::max(ready[from], ready[i]) + sent(from) / star.bandwidth + star.latency;
        after[i] = std::max(drained, delivered);
    }
    return after;
}

/// Returns when each member ends whose block for place p weighs blocks[p].
inline Instants all_to_all_ends(const Blocks& blocks, Instants ready, const IdleStar& star) {
    const std::size_t n = blocks.size();
    for (std::size_t round = 1; round < n; ++round)
        ready =
            after_round(ready, round, [&](std::size_t i) { return blocks[(i + round) % n]; }, star);
    return ready;
}

/// Returns when each member of a ring all-gather ends; the block of place p weighs blocks[p].
inline Instants ring_all_gather_ends(const Blocks& blocks, Instants ready, const IdleStar& star) {
    const std::size_t n = blocks.size();
    for (std::size_t step = 0; step + 1 < n; ++step)
        ready =
            after_round(ready, 1, [&](std::size_t i) { return blocks[(i + n - step) % n]; }, star);
    return ready;
}

}  // namespace paceline
