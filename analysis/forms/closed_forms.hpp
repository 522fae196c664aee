// Closed forms for the cost of collectives on an idle star. The tests compare the simulation with
// these predictions.
//
// n members begin together. A message of S bytes takes t(S) = S/B to drain and L more to be
// delivered. Every t is rounded up to the tick, like in the network, so simulated and predicted
// times agree to the picosecond. All times are 0 for n = 1. A collective of two members or more
// begins s after its call (sim/collectives/library.hpp), which each form below adds once.
// Derivations: docs/models/collectives.md. Limits: equal links, no overhead, no other
// traffic.
//
// The forms must be able to disagree with the simulation. Chunks, the fold of a group that is not a
// power of two, unions, message sizes and selection times are written here and in sparse_forms.hpp
// from the formulas alone. All forms of analysis/forms still share with the simulation:
//
//   units.hpp            the time of S bytes on a link, rounded up; integer sums
//   elementary.hpp       logarithms and exponentials
//   plan_for             which all-reduce `automatic` picks
//   step_timing.hpp      the time of a gradient, and when its buckets are ready
//   Compressor           the bits and coding passes of one tensor; its message is added up here
//   1-bit, PowerSGD      padded buffers, stripes, messages and passes (one_bit_all_reduce.hpp,
//                        one_bit_sgd.hpp, low_rank_coder.hpp); encoding times of compressed methods
//   mixings              who sends to whom
//   rounds of clients    the number of clients of a round
//
// Each of these has tests of its own.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>

#include "sim/collectives/all_to_all.hpp"
#include "sim/collectives/pipelined.hpp"
#include "sim/collectives/plans/hierarchical.hpp"
#include "sim/engine/units.hpp"

namespace paceline {

struct IdleStar {
    Bandwidth bandwidth;  // of a flow that has its links to itself
    Duration latency{};   // one way, from host to host
    Duration start_up{};  // s, of a collective
    /// Payload capacity of every link, if a single flow cannot fill it.
    std::optional<Bandwidth> card{};
    /// Of each message, in forms of slices: before it flows, and of its delivery.
    Duration message_cost{};
    Duration message_delay{};

    /// Returns the time of k flows of that size over one link.
    [[nodiscard]] Duration together(std::int64_t flows, Bytes size) const {
        if (!card) return (flows * size) / bandwidth;
        return std::max((flows * size) / *card, size / bandwidth);
    }
};

/// Returns the same star, where a link carries no more than this.
[[nodiscard]] inline IdleStar capped(IdleStar star, Bandwidth rate) {
    star.bandwidth = std::min(star.bandwidth, rate);
    if (star.card) star.card = std::min(*star.card, rate);
    return star;
}

/// Returns the same star for a phase of a collective that has begun.
[[nodiscard]] inline IdleStar begun(IdleStar star) {
    star.start_up = {};
    return star;
}

/// 2(n-1) (L + t(ceil(S/n)))
Duration ring_all_reduce_time(int n, Bytes size, const IdleStar& star);

/// With m = floor(log2 n):  m (L + t(S)), plus 2 (L + t(S)) if n is not 2^m
Duration recursive_doubling_all_reduce_time(int n, Bytes size, const IdleStar& star);

/// n = 2^m: 2 sum over i = 1..m of (L + t(h_i)), where h_i is the last n/2^i chunks of n. Otherwise
/// the same for 2^m chunks, plus 2 (L + t(S)).
Duration halving_doubling_all_reduce_time(int n, Bytes size, const IdleStar& star);

/// (n-1) (L + t(V))
Duration ring_all_gather_time(int n, Bytes block, const IdleStar& star);

/// sum over i < ceil(log2 n) of (L + t(min(2^i, n - 2^i) V))
Duration bruck_all_gather_time(int n, Bytes block, const IdleStar& star);

/// `weight(c)` is the weight of a union of c contributions; it must not fall with c. n = 2^m: sum
/// over i < m of (L + t(weight(2^i))). Otherwise by recurrence over the survivors x, with x' = x
/// xor 2^i, w_i(x) = t(weight(c_i(x))) and c_i(x) the contributions that x's block of 2^i has
/// merged:
///   T_0(x)     = L + t(weight(1)) if x stands for two, else 0
///   T_i+1(x)   = max(T_i(x), T_i(x')) + max(w_i(x), w_i(x') + L)
///   T          = the largest T_m(x), and T_m(x) + L + t(weight(n)) if x stands for two
Duration sparse_all_reduce_time(int n, const std::function<Bytes(int)>& weight,
                                const IdleStar& star);

/// (n-1) (L + t(ceil(S/n)))
Duration ring_reduce_scatter_time(int n, Bytes size, const IdleStar& star);

/// Grouped: L + t((n-1) V). In rounds: (n-1) (L + t(V)).
Duration all_to_all_time(AllToAll how, int n, Bytes block, const IdleStar& star);

/// With m = ceil(log2 n):  max((m-1) (L + t(S)), m t(S) + c L), where c is the largest number of
/// ones in the binary form of a place in [2^(m-1), n-1].
Duration binomial_broadcast_time(int n, Bytes size, const IdleStar& star);

/// ceil(log2 n) (L + t(S))
Duration binomial_reduce_time(int n, Bytes size, const IdleStar& star);

/// The longest way from place 0, where a place with c places below takes c t to serve them all and
/// L more.
Duration broadcast_at_once_time(int n, Bytes size, const IdleStar& star);

/// k slices of time t per chunk, w = min(in flight, k) of them under way, Q = 2(n-1)k, P = max(w t,
/// t + L): floor((Q-1)/w) P + ((Q-1) mod w) t + t + L. With w slots: t Q + L + max over i k + j w <
/// Q of i (L - (k-1) t) + j (2 L - (w-1) t). Exact if n k divides S.
Duration pipelined_ring_all_reduce_time(int n, Bytes size, const Slices& cut, const IdleStar& star);
/// The same for Q = (n-1)k, plus L + t(S - S/n).
Duration pipelined_ring_reduce_time(int n, Bytes size, const Slices& cut, const IdleStar& star);

/// (n-1) (L + t) + (k-1) t for k slices of time t, if w t >= 2 t + L or k <= w; else empty. With w
/// slots, floor((k-1)/w) max(0, 2 L - (w-1) t) more. Exact if k divides S.
std::optional<Duration> chain_time(int n, Bytes size, const Slices& cut, const IdleStar& star);

/// The reduce, then the broadcast.
Duration tree_all_reduce_time(int n, Bytes size, const IdleStar& star);

/// q servers on their own machines: 2 (L + t(n ceil(S/q))); on the workers' machines: 2 (L +
/// t((n-1) ceil(S/q))). Exact if q divides S. Requires 1 <= q <= n.
Duration parameter_server_all_reduce_time(int n, Bytes size, int servers, bool on_workers,
                                          const IdleStar& star);

/// p machines with g devices each on an idle bus: 2 (g-1) (L + t(ceil(S/g))) on the bus plus 2
/// (p-1) (L + t(x)), x = ceil(ceil(S/g)/p), on the network. There, h of the g rings share a network
/// card (all with one card per machine), and each ring has its own lane, so t(x) is the longer of h
/// x / B_network and x / B_bus. Exact if g p divides S. `network` has a card's bandwidth, and the
/// latency from device to device.
Duration hierarchical_all_reduce_time(int machines, int devices, Bytes size, const IdleStar& bus,
                                      const IdleStar& network, int sharing);

/// By nested groups on a star: 2 (g_i - 1) (L + t(S_i/g_i)) for each level, with S_1 = S and
/// S_i+1 = S_i/g_i, and 2 (p-1) (L + t(S_p/p)) among the p groups of the last. Exact if all chunks
/// are equal.
Duration nested_all_reduce_time(const NestedGroups& groups, int n, Bytes size,
                                const IdleStar& star);

/// A ring through all devices of the machines in order: 2 (n-1) times the slower of the two kinds
/// of steps. A step between machines also passes lanes of the bus. Requires more than one machine.
Duration ring_over_machines_time(int n, Bytes size, const IdleStar& bus, const IdleStar& network);

/// One ring for each of c cards of a machine, each with a part of the vector, in the same setting;
/// all machines are full: 2 (n-1) (L + t(x)), x = ceil(ceil(S/c)/n). All rings share a lane, so
/// this holds where the lane gives each the rate of a card, B_bus >= c B_network; empty elsewhere.
/// Exact if n c divides S.
std::optional<Duration> rings_of_cards_time(int n, Bytes size, int cards, const IdleStar& bus,
                                            const IdleStar& network);

/// Recursive doubling in the same setting, p and g powers of two, where a union of c contributions
/// weighs W(c): log2 g steps inside, then log2 p in which h of g workers share a card:
///   sum over c = 1, 2, 4 .. below g of (l + t'(W(c)))
///   + sum over c = g, 2 g, 4 g .. below n of (L + max(t(h W(c)), t'(W(c)))).
Duration sparse_doubling_over_machines_time(int machines, int devices,
                                            const std::function<Bytes(int)>& weight,
                                            const IdleStar& bus, const IdleStar& network,
                                            int sharing);

/// The same where every union weighs S:  log2(g) (l + t'(S)) + log2(p) (L + max(t(h S), t'(S))).
Duration recursive_doubling_over_machines_time(int machines, int devices, Bytes size,
                                               const IdleStar& bus, const IdleStar& network,
                                               int sharing);

/// The ring all-gather in the same setting: n-1 times the slower step.
Duration ring_all_gather_over_machines_time(int n, Bytes block, const IdleStar& bus,
                                            const IdleStar& network);

}  // namespace paceline
