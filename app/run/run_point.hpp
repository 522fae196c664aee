// Runs one point of a study: builds the simulated machine from a scenario, trains on it, and
// measures.
#pragma once

#include <cstdint>

#include "analysis/measures/metrics.hpp"
#include "app/run/observer.hpp"
#include "app/scenario/scenario.hpp"
#include "sim/engine/simulation.hpp"

namespace paceline {

/// Runs to the end. `progress` may be null; it is updated during the run. If more than `most`
/// resumptions happen at one instant, the run ends as "spinning". `observer` may be null; it does
/// not affect the run.
Metrics run_point(const Scenario& scenario, Progress* progress,
                  std::uint64_t most = Simulation::default_resumption_limit,
                  const Observer* observer = nullptr);

/// Returns the wires of a run with all of their users. Links are numbered as an observer sees them.
Fabric fabric_of(const Scenario& scenario);

/// Returns the closed form of a step on an idle network, averaged over `steps` steps; empty if none
/// is known.
std::optional<Duration> model_step_time(const Scenario& scenario, std::int64_t steps);

/// Returns the number of messages in that many steps, over all workers. Returns nothing if only a
/// time limit ends the run and no closed form gives the number of steps, or if steps repeat with a
/// period of millions.
std::optional<double> messages_of_run(const Scenario& scenario);

}  // namespace paceline
