// SwarmSGD: after some steps of its own a node averages with one random neighbor.
//
// After H local steps, node i picks a neighbor j uniformly (never itself) and
//
//   blocking        both between bursts of steps:   x_i, x_j  <-  (x_i + x_j) / 2
//   non-blocking    of copies s, made when the last own exchange was done; nobody waits:
//                   x_i  <-  x_i + (s_j - s_i) / 2     x_j  <-  x_j + (s_i - s_j) / 2
//   one-sided       x_i  <-  (x_i + x_j) / 2, x_j as it is now; j does not notice
//
//   symbol   here           meaning
//   x_i      self.model()   live model of worker i
//   s_i      copy           what others average with: of the live model, see below
//   H        local_steps    steps of a burst: always as many, or geometric with this mean
//   m_i      m              momentum (optimizers/momentum_change.hpp), 0 at first, never averaged
//
// Messages travel, so the exchange is made additive (derived): i sends s; j answers with its own t
// and adds (s - t)/2 to its model (and copy); i adds (t - s)/2 when the answer comes, and then
// makes a new copy. The sum of the live models changes by gradients alone, however messages
// interleave. A request from j that meets i's own to j is taken as its answer by either: messages
// of a pair stay in order, so both see it. Blocking: the "copy" is the live model.
//
// Who waits. Blocking: a node in a burst answers when the burst ends; one that waits for its own
// answer, or has finished, answers at once, so no cycle of nodes waits. Non-blocking: at most one
// own exchange is under way; a burst that ends before the former is done begins none. A finished
// node begins none. One-sided: the node waits for what it pulls. It does not conserve the mean: it
// is what the released code (PopSGD) does, with H = 1 and an empty request.
//
// Exchange "lattice": vectors travel as codes (compression/lattice.hpp), decoded at the receiver's
// own; shifts are (Q(s) - Q(t)) / 2, with Q of both sides, so the sum is conserved up to decoding
// failures, which are counted. One-sided pulls average with Q(x_j). Coding takes two passes over
// the entries for each message, to encode and to decode, before it sets out.
//
// How sure. Blocking and non-blocking formally, and the geometric law: from memory, unverified
// (the paper's abstract and secondary notes). One-sided and the lattice: released code. Source:
// Nadiradze, Sabour, Davies, Markov, Li, Alistarh, "Asynchronous Decentralized SGD with Quantized
// and Local Updates", NeurIPS 2021, arXiv 1910.12308.
#pragma once

#include <cstdint>
#include <optional>

#include "algorithms/compression/coding.hpp"
#include "algorithms/compression/lattice.hpp"
#include "algorithms/optimizers/momentum.hpp"
#include "algorithms/worker.hpp"

namespace paceline {

enum class StepsLaw : std::uint8_t { fixed, geometric };

struct SwarmSgdOptions {
    MomentumRule rule{};
    std::int64_t local_steps = 1;  // mean H, 1 or more
    StepsLaw steps_law = StepsLaw::fixed;
    std::optional<Lattice> lattice{};  // empty: exact
    CodingCost coding{};               // with a lattice
};

/// All require a job with a mixing that is the same in every step; it says who are neighbors, its
/// weights do not matter. n = 1: SGD.
Task<> swarm_sgd_blocking(Worker& self, SwarmSgdOptions options);
Task<> swarm_sgd_non_blocking(Worker& self, SwarmSgdOptions options);
Task<> swarm_sgd_one_sided(Worker& self, SwarmSgdOptions options);

}  // namespace paceline
