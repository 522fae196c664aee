// Closed forms for the steps of methods that train locally and average now and then, on an idle
// network.
//
//   tau steps to a block, T = T1 + U one gradient and the optimizer's update, A = all-reduce of S
//
//   local-sgd, bmuf, easgd,   step k:  T, plus A if it ends a block; local-adam plus 3 A if it
//                                      averages
//   diloco, local-adam                 its moments, too
//   post-local-sgd            T + A before the switch, then as local-sgd with its own period
//   slowmo                    a step of the base; at the end of a block, plus A (if it averages)
//                             and A for each buffer that is averaged;
//                             local, local-adam: T; all-reduce: T + A; dsgd: T + L + d t(S);
//                             sgp: T + L + d t(S + one number)
//   cocod-sgd                 the step that ends a block:  T + max(0, A - tau T), else T
//   overlap-local-sgd         the same, and T throughout the first block
//
// So a block of tau steps takes tau T + A, or max(tau T, A) if the average runs concurrently.
// Dividing by tau gives the step time. The forms are exact where those of all-reduces are
// (step_models.hpp): all workers begin together. If the number of workers is not a power of two,
// they are upper bounds. If a run ends within a block whose average is in flight, it ends when the
// messages on the wires have drained; no step includes that time. Empty if a part has no closed
// form.
#pragma once

#include <cstdint>
#include <optional>

#include "algorithms/local/slowmo.hpp"
#include "analysis/forms/step_models.hpp"

namespace paceline {

/// Returns T, the time of a step without an exchange.
Duration lone_step_time(const StepModelInput& in);
/// Returns the time of a step that ends a block of local-sgd, bmuf, easgd, diloco or another method
/// that averages so many vectors and waits for them.
std::optional<Duration> averaged_step_time(const ExchangeOptions& exchange,
                                           const StepModelInput& in, int vectors = 1);
/// `mixing` is that of the step, or null if the base has none.
std::optional<Duration> slowmo_step_time(const SlowmoOptions& options, const Mixing* mixing,
                                         std::int64_t k, const StepModelInput& in);
/// Returns the step time of methods whose average runs concurrently with a block.
std::optional<Duration> overlapped_average_step_time(const ExchangeOptions& exchange,
                                                     std::int64_t period, std::int64_t k,
                                                     const StepModelInput& in);

/// Returns the part of `size` that each of so many steps has, rounded up.
Bytes share_of_steps(Bytes size, std::int64_t steps);

/// Returns how many vectors SlowMo exchanges at the end of a block: the models, and buffers.
int averaged_vectors(const SlowmoOptions& options);

}  // namespace paceline
