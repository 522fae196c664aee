// Closed forms of a step of the gossip family on an idle star, in the terms of step_models.hpp.
//
// T1 the gradient, u the update, L the latency from worker to worker, t(S) = S / B, S the bytes of
// the model, d the number of listeners.
//
//   push           L + d t(S + one number)                         0 without listeners
//   SGP            T1 + push + u
//   OSGP           step 0: T1 + u + push;  then max(T1 + u, push)
//   free-running   T1 + u                                          AD-PSGD, SwarmSGD non-blocking
//   blocking pair  T1 + u, and L + t(S) more at the end of a burst SwarmSGD blocking, n = 2
//
// OSGP's last messages are waited for behind its last step; the form counts them in the first, so
// that the sum over a run is exact. Free-running methods finish exchanges that are still under way
// behind the last step, which the form leaves out: a run is longer by what is left then. A blocking
// pair's requests cross, each is the other's answer. Where three nodes or more meet at random there
// is no closed form.
#pragma once

#include <cstdint>
#include <optional>

#include "algorithms/swarm_sgd.hpp"
#include "analysis/step_models.hpp"

namespace paceline {

/// Known where all workers have as many listeners as they listen to, alike, in this step and in
/// those before it.
std::optional<Duration> sgp_step_time(const Mixing& mixing, const StepModelInput& in);
std::optional<Duration> osgp_step_time(const Mixing& mixing, std::int64_t k,
                                       const StepModelInput& in);

Duration free_running_step_time(const StepModelInput& in);

/// Known for up to two workers and bursts of fixed length.
std::optional<Duration> blocking_swarm_step_time(const SwarmSgdOptions& options, std::int64_t k,
                                                 const StepModelInput& in);

/// What one vector of a SwarmSGD exchange weighs.
Bytes swarm_message(const SwarmSgdOptions& options, const Layout& layout, WireFormat wire);

}  // namespace paceline
