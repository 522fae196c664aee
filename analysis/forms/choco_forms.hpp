// Closed forms for one step of CHOCO-SGD on an idle network, flat and by machine, whole and in
// pieces (algorithms/compressed/choco_sgd.hpp).
//
//   T1        one gradient              U         the optimizer's update
//   K_i       coding of piece i         K         sum of the K_i
//   M_i       its message               M         sum of the M_i
//   t(x)      x bytes on a link         d         degree of all workers, or of all machines
//
//   flat, after backward       max(T1, L + t(d M)) + K + U. The first step has no messages:
//                              T1 + K + U
//   flat, beside backward      T1 + K + U,  where  L + max over i of (c_i + t(d sum over j >= i of
//                              M_j))  <=  T1 + K + U + r_0: all messages have come when backward
//                              completes the first piece of the next step, after r_0; c_i: when
//                              piece i is coded (neighbor_forms.hpp). Always in the first step
//   leaders, after backward    T1 + sum over i of (reduce + broadcast of piece i) + K + U, where
//                              L + t(d M) <= T1: no message is on a bus that the devices use. The
//                              first step has no messages
//
// Otherwise unknown, and empty, and so is beside backward by machine, where messages and sums share
// the leader's bus.
#pragma once

#include <cstdint>
#include <optional>

#include "algorithms/compressed/choco_sgd.hpp"
#include "analysis/forms/step_models.hpp"

namespace paceline {

std::optional<Duration> choco_sgd_step_time(const ChocoSgdOptions& options, const Mixing& mixing,
                                            std::int64_t step, const StepModelInput& in);

/// Returns the number of messages that belong to a step, over all workers: beside backward those
/// that it sends, after backward those of the step before.
std::int64_t choco_sgd_messages(const ChocoSgdOptions& options, const Mixing& mixing,
                                std::int64_t step, const StepModelInput& in);

}  // namespace paceline
