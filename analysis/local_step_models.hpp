// Closed forms of the steps of methods that train locally and average now and then, on an idle
// network.
//
//   tau steps to a block, T = T1 + U one gradient and the optimizer's update, A = all-reduce of S
//
//   local-sgd, bmuf, easgd    step k:  T, and A more where it ends a block
//   post-local-sgd            T + A before the switch, then as local-sgd with its own period
//   slowmo                    a step of the base, and at the end of a block A (if it averages) and A
//                             for each buffer that is averaged;
//                             local, local-adam: T; all-reduce: T + A; dsgd: T + L + d t(S);
//                             sgp: T + L + d t(S + one number)
//   cocod-sgd                 the step that ends a block:  T + max(0, A - tau T), else T
//   overlap-local-sgd         the same, and T throughout the first block
//
// So a block of tau steps takes tau T + A, or max(tau T, A) where the average runs beside it; over tau,
// that is the step. Exact where all-reduces are (step_models.hpp): all workers begin together, and
// for other numbers of workers than powers of two it is an upper bound. A run that ends within a block
// whose average was under way ends when the messages on the wires have drained, which no step has.
// Empty where a part has no closed form.
#pragma once

#include <cstdint>
#include <optional>

#include "algorithms/post_local_sgd.hpp"
#include "algorithms/slowmo.hpp"
#include "analysis/step_models.hpp"

namespace paceline {

/// A step without an exchange: T.
Duration lone_step_time(const StepModelInput& in);
/// Of local-sgd, bmuf and easgd.
std::optional<Duration> averaged_step_time(const AllReducePlan& plan, std::int64_t period,
                                           std::int64_t k, const StepModelInput& in);
std::optional<Duration> post_local_sgd_step_time(const PostLocalSgdOptions& options, std::int64_t k,
                                                 const StepModelInput& in);
/// `mixing` is that of the step, null where the base has none.
std::optional<Duration> slowmo_step_time(const SlowmoOptions& options, const Mixing* mixing,
                                         std::int64_t k, const StepModelInput& in);
/// Of a step that ends a block beside which an average runs, and of the others.
std::optional<Duration> overlapped_average_step_time(const AllReducePlan& plan, std::int64_t period,
                                                     std::int64_t k, const StepModelInput& in);

/// Vectors that a block of SlowMo ends with exchanging: the models, and buffers.
int averaged_vectors(const SlowmoOptions& options);

}  // namespace paceline
