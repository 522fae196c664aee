// One point of a study, run: builds the simulated machine from a scenario, trains on it, measures.
#pragma once

#include <cstdint>

#include "analysis/metrics.hpp"
#include "app/observer.hpp"
#include "app/scenario.hpp"
#include "sim/engine/simulation.hpp"

namespace paceline {

/// Runs to the end. `progress` may be null; it is written to while the run goes on. More
/// resumptions than `most` within one instant end the run as "spinning". `observer` may be null; it
/// watches and changes nothing.
Metrics run_point(const Scenario& scenario, Progress* progress,
                  std::uint64_t most = Simulation::default_resumption_limit,
                  const Observer* observer = nullptr);

/// The wires of a run, for all who are on them: links are numbered as an observer sees them.
Fabric fabric_of(const Scenario& scenario);

/// The closed form of a step on an idle network, mean over `steps` steps; empty where none is
/// known.
std::optional<Duration> model_step_time(const Scenario& scenario, std::int64_t steps);

/// Messages of that many steps, among all workers; nothing when only time ends the run and no
/// closed form says how many steps that is, or where they repeat with a period of millions.
std::optional<double> messages_of_run(const Scenario& scenario);

}  // namespace paceline
