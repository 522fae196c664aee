// Closed forms for the methods with a parameter server on its own node, on an idle star.
//
// There are n identical workers. T = T1 + update is what a worker computes in a step, t = S/B the
// time of one model over one link, and L the latency from host to host. The server answers one
// worker at a time, so workers that begin together are t apart from the first answers on:
//
//   first step of the three       T + 2L + 2 n t              all push at once, answered in turn
//   ps-async, ps-stale s >= 1     max(T + 2L + 2t, n t)       latency, or the server's link is full
//   ps-stale s = 0                T + 2L + (n + 1) t          a worker's push leaves while others
//                                                             are answered; the last one counts
//   rounds of clients, each       2L + 2 |S| w t + E T        |S| = max(floor(C n), 1)
//     fedavg, fedprox, fedopt     w = 1; with a compressor the way up takes its message, after
//                                 encoding
//     scaffold                    w = 2: a control variate beside the model; with a compressor one
//                                 message up
//
// The first two give exactly the times until the last worker has taken the step. The first step of
// a round carries its cost; workers that are not drawn count it, too. Known if each machine has one
// worker.
#pragma once

#include <cstdint>
#include <optional>

#include "algorithms/servers/client_rounds.hpp"
#include "algorithms/servers/stale_synchronous_sgd.hpp"
#include "analysis/forms/step_models.hpp"

namespace paceline {

std::optional<Duration> async_sgd_step_time(const StepModelInput& in, std::int64_t k);
std::optional<Duration> stale_synchronous_sgd_step_time(const StaleSynchronousSgdOptions& options,
                                                        const StepModelInput& in, std::int64_t k);
/// Of rounds in which a client receives and hands in `vectors` vectors of the model's size.
std::optional<Duration> client_round_step_time(const RoundOptions& options, int vectors,
                                               const StepModelInput& in, std::int64_t k);

}  // namespace paceline
