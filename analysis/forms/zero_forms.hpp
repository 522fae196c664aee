// Closed forms of ZeRO's steps (algorithms/dense/zero.hpp), on an idle network.
//
// Units u = 0, ..., B-1 in the order of the backward pass; A_u and R_u: their gather and reduce;
// r_u: when backward has completed u; U: the update, d: shards. A step adds up a gradients, m = 0,
// ..., a-1, of the same times; r_mu is r_u a gradient's time later for each m. Reduces are those of
// all m, or of the last one alone.
//
//   stages 1, 2   in the order of (m, u)   e = max(r_mu, e before) + R_u;   the step: the last e +
//                                          U/d + sum of A_u
//   stage 3       computation j takes c_j and ends at E_j; gather j ends at G_j. In the order of
//                 the stream reduce m, u  s = max(s, E_(2Bm+B+u)) + R_u gather j     G_j = s =
//                 max(s, E_(j-p-1)) + A;   E_j = max(G_j, E_(j-1)) + c_j the step: the end of the
//                 last reduce + U/d
//
//   all workers   A = R = half of a ring all-reduce of the unit; with a ring for each card of a
//                 machine, half of theirs
//   by machine    A = (g-1) (l + t'(S/g)) on the bus;  R = A + the ring of p machines that a
//                                                      hierarchical all-reduce has
//
// Unknown where those rings are.
#pragma once

#include <cstdint>
#include <optional>

#include "algorithms/dense/zero.hpp"
#include "analysis/forms/step_models.hpp"

namespace paceline {

std::optional<Duration> zero_step_time(const ZeroOptions& options, const StepModelInput& in);

/// Returns the messages of a step, over all workers.
std::int64_t zero_messages(const ZeroOptions& options, const StepModelInput& in);

}  // namespace paceline
