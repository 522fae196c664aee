// Which mixing W each step averages by: always the same, one of a list in turn, or a random draw.
//
//   x_i^{k+1}  <-  sum over j of w_ij^(k) x_j^k
//
//   one-peer exponential    directed: node i averages 1/2 itself and 1/2 node i - 2^(k mod p)
//                           mod n, p = ceil(log2 n). The product over a period is exact averaging
//                           if and only if n is a power of two (the factors commute).
//   one-peer hypercube      nodes whose number differs in bit k mod p, in pairs, 1/2 each; n = 2^p.
//                           The product over a period is exact averaging.
//   one-peer inner-outer    for p machines of g >= 3 nodes. In step k, node h = k mod g of each
//                           machine is out: it averages 1/2 itself and 1/2 the node at its place
//                           2^(k mod a) machines before. The others of the machine stand in a
//                           circle without h, and average 1/2 themselves and 1/2 the one 2^(k mod
//                           b) places before. a = ceil(log2 p), b = ceil(log2 (g-1)). Repeats after
//                           lcm(g, a, b) steps. On machines of one node, and on one machine, it is
//                           the one-peer exponential graph.
//   random matching         a uniformly drawn perfect matching of all nodes in each step, pairs
//                           average 1/2 each; with n odd, one node stays alone.
//
// In each of these, a node sends one vector per step: alpha + M / B. All are doubly stochastic in
// every step. One node averages with itself; two nodes average 1/2 each in every step.
//
// W of a step is a pure function of the step (and of the seed, if drawn). All nodes see the same W,
// whichever asks first, and nothing about past steps is kept. Memory: the W of one step, or of a
// period for periodic schedules.
//
// Sources: Ying, Yuan, Chen, Hu, Pan, Yin, "Exponential Graph is Provably Efficient for
// Decentralized Deep Training", NeurIPS 2021 (one-peer graphs); BlueFog, topology_util.py,
// GetInnerOuterExp2DynamicSendRecvRanks (inner-outer, as its benchmark uses it on several
// machines); Boyd, Ghosh, Prabhakar, Shah, IEEE Trans. Information Theory 52, 2006 (random gossip).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "topologies/mixing/mixing.hpp"

namespace paceline {

using MixingPtr = std::shared_ptr<const Mixing>;

class MixingSchedule {
  public:
    /// Empty schedule: no node averages with any other.
    MixingSchedule() = default;
    /// The same W in every step. A null pointer makes an empty schedule.
    MixingSchedule(MixingPtr always);  // NOLINT(google-explicit-constructor): a W is a schedule
    MixingSchedule(Mixing always);     // NOLINT(google-explicit-constructor)
    /// W of step k is number k mod period. Requires at least one W, all with the same number of
    /// nodes.
    static MixingSchedule periodic(std::vector<Mixing> period);
    /// W of step k is draw(k). `mean_square` is the second eigenvalue of E[W^T W], if known.
    /// Requires that `draw` is a pure function and returns W of `nodes` nodes.
    static MixingSchedule drawn(int nodes, std::function<Mixing(std::int64_t step)> draw,
                                std::optional<double> mean_square);

    [[nodiscard]] bool empty() const { return nodes_ == 0; }
    [[nodiscard]] int nodes() const { return nodes_; }
    [[nodiscard]] bool is_static() const { return period_.size() == 1; }
    [[nodiscard]] bool is_drawn() const { return draw_ != nullptr; }
    /// Returns the number of steps after which it repeats: 1 if it is static, 0 if it is drawn.
    [[nodiscard]] std::int64_t period() const { return static_cast<std::int64_t>(period_.size()); }
    /// Returns W of step 0, 1, ... Requires !empty().
    [[nodiscard]] MixingPtr at(std::int64_t step) const;
    [[nodiscard]] std::optional<double> mean_square() const { return mean_square_; }

  private:
    int nodes_ = 0;
    std::vector<MixingPtr> period_;  // empty if drawn
    std::function<Mixing(std::int64_t)> draw_;
    std::optional<double> mean_square_;
};

MixingSchedule make_one_peer_exponential(int nodes);
/// Requires that `nodes` is a power of two.
MixingSchedule make_one_peer_hypercube(int nodes);
/// Requires one machine or more, and per machine one node, or 3 or more if there are several
/// machines.
MixingSchedule make_one_peer_inner_outer(int machines, int per_machine);
/// Pairs average (1 - give) self + give other. The matching of step k depends only on the seed and
/// k. Requires give in (0, 1).
///
/// Mean square: W = (1-t) I + t P, t = give, where P is the matching's permutation with P^T = P and
/// P^2 = I, so W^T W = ((1-t)^2 + t^2) I + 2 t (1-t) P. With n even, P maps a node to each other
/// node with probability 1/(n-1): E[P] = (n J - I) / (n-1), which acts as p = -1/(n-1) on vectors
/// of mean zero. With n odd, the node itself is as likely as each other node: E[P] = J, p = 0.
/// Hence (1-t)^2 + t^2 + 2 t (1-t) p; with t = 1/2, (n-2) / (2(n-1)) for n even and 1/2 for n odd.
MixingSchedule make_random_matching(int nodes, std::uint64_t seed, double give = 0.5);

/// Returns the schedule with (I + W) / 2 in every step. Requires that it is not drawn.
MixingSchedule lazy(const MixingSchedule& schedule);

}  // namespace paceline
