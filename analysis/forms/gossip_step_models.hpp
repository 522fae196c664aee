// Closed forms for a step of the gossip family on an idle star, in the notation of step_models.hpp.
//
// T1 is the gradient, u the update, L the latency from worker to worker, t(S) = S / B, S the bytes
// of the model, d the number of listeners.
//
//   push           L + d t(S + one number)                         0 without listeners
//   SGP            T1 + push + u
//   OSGP           step 0: T1 + u + push;  then max(T1 + u, push)
//   free-running   T1 + u                                          AD-PSGD, SwarmSGD non-blocking
//   blocking pair  T1 + u, plus L + t(S) at the end of a burst    SwarmSGD blocking, n = 2
//
// OSGP waits for its last messages after its last step. The form counts them in the first step, so
// that the sum over a run is exact. Free-running methods finish exchanges that are still in flight
// after the last step. The form leaves that out, so a run takes longer by the remainder. The
// requests of a blocking pair cross, and each is the other's answer. If three or more nodes meet at
// random, there is no closed form.
#pragma once

#include <cstdint>
#include <optional>

#include "algorithms/gossip/swarm_sgd.hpp"
#include "algorithms/runtime/wire_format.hpp"
#include "analysis/forms/step_models.hpp"

namespace paceline {

/// Known if all workers have the same number of listeners, and listen to that many, in this step
/// and in those before it.
std::optional<Duration> sgp_step_time(const Mixing& mixing, const StepModelInput& in);
std::optional<Duration> osgp_step_time(const Mixing& mixing, std::int64_t k,
                                       const StepModelInput& in);

Duration free_running_step_time(const StepModelInput& in);

/// Known for at most two workers and bursts of fixed length.
std::optional<Duration> blocking_swarm_step_time(const SwarmSgdOptions& options, std::int64_t k,
                                                 const StepModelInput& in);

/// Returns the weight of one vector of a SwarmSGD exchange.
Bytes swarm_message(const SwarmSgdOptions& options, const Layout& layout, WireFormat wire);

}  // namespace paceline
