// Closed forms of the methods with a parameter server on a node of its own, on an idle star.
//
// n workers alike; T = T1 + update: what a worker computes in a step; t = S/B: one model over one
// link; L the latency from host to host. The server answers one worker at a time, so workers that
// begin together are spread out by t each from the first answers on:
//
//   first step of the three       T + 2L + 2 n t              all push at once, answered in turn
//   ps-async, ps-stale s >= 1     max(T + 2L + 2t, n t)       latency, or the server's link is full
//   ps-stale s = 0                T + 2L + (n + 1) t          a worker's push leaves while others are
//                                                             answered; the last one's counts
//   fedavg, a round               2L + 2 |S| t + E T          |S| = max(floor(C n), 1)
//
// The times of the first two are those until the last worker has taken the step, exactly. A round is
// paid by its first step; those who are not drawn count it, too. Known where each machine has one
// worker.
#pragma once

#include <cstdint>
#include <optional>

#include "algorithms/fedavg.hpp"
#include "algorithms/stale_synchronous_sgd.hpp"
#include "analysis/step_models.hpp"

namespace paceline {

std::optional<Duration> async_sgd_step_time(const StepModelInput& in, std::int64_t k);
std::optional<Duration> stale_synchronous_sgd_step_time(const StaleSynchronousSgdOptions& options,
                                                        const StepModelInput& in, std::int64_t k);
std::optional<Duration> fedavg_step_time(const FedavgOptions& options, const StepModelInput& in,
                                         std::int64_t k);

}  // namespace paceline
