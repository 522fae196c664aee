// Closed forms for a step of the adaptive family on an idle star: the cost of its 1-bit exchanges.
//
// There are n workers, bandwidth B and latency L. t(S) = S/B rounded up to the tick, and s is the
// time of a coding pass.
//
//   buffer of P padded entries     A(P/(8n)) + (n-1) (L + t(P/(8n)) + 2 (L + t(4)))
//                                  +  (4 P + 2 P/n) s
//   1-bit exchange                 the sum over its buffers
//   bytes sent by a worker         2 (n-1) (P/(8n) + 4) for each buffer
//   messages of all workers        4 n (n-1) for each buffer
//   1-bit SGD, stripes b_j         A(b) + (n-1) (L + t(b))  +  (4 N + 2 ceil(N/n)) s,  b = max b_j
//   its bytes, of worker j         the b_i of all other owners, and of all but the next owner's
//   its messages                   2 n (n-1)
//   A(V), an all-to-all            grouped L + t((n-1) V), in rounds (n-1) (L + t(V))
//
// The forms are exact (to the tick) for workers that begin together. The form of 1-bit SGD is an
// upper bound if stripes differ, because a round lasts as long as the messages that a worker waits
// for in it. Known on a star with one worker per machine, or with all workers on one bus.
#pragma once

#include <cstdint>
#include <optional>

#include "algorithms/adaptive/one_bit_sgd.hpp"
#include "algorithms/adaptive/zero_one_adam.hpp"
#include "analysis/forms/step_models.hpp"

namespace paceline {

/// Returns the time of step k of 0/1 Adam.
std::optional<Duration> zero_one_step_time(const ZeroOneAdamOptions& options, std::int64_t k,
                                           const StepModelInput& in);
std::optional<Duration> one_bit_sgd_step_time(const OneBitSgdOptions& options,
                                              const StepModelInput& in);

std::int64_t zero_one_messages(const ZeroOneAdamOptions& options, std::int64_t k,
                               const StepModelInput& in);

}  // namespace paceline
