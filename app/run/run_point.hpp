// Runs one point of a study: builds the simulated machine from a scenario, trains on it, and
// measures.
#pragma once

#include <cstdint>

#include "analysis/measures/metrics.hpp"
#include "app/run/run_observer.hpp"
#include "app/run/step_costs.hpp"
#include "app/scenario/scenario.hpp"
#include "sim/engine/simulation.hpp"

namespace paceline {

/// How many resumptions without progress end a run as "spinning": `base`, and `per_message` for
/// each message of the dearest step. Progress is that time passes or, if the number of steps is
/// bounded, that a worker begins a step. So the limit grows with what a step needs (all messages of
/// a step fall into one instant where neither computing nor links take time), but not with the
/// number of steps. A run that only stop.time ends, and whose steps take no time, ends as
/// "spinning".
struct SpinLimit {
    std::uint64_t base = Simulation::default_resumption_limit;
    std::uint64_t per_message = 16;  // collectives resume one to three coroutines per message
};

/// Runs to the end. `progress` may be null; it is updated during the run. `observer` may be null;
/// it does not affect the run.
Metrics run_point(const Scenario& scenario, Progress* progress, SpinLimit spin = {},
                  const Observer* observer = nullptr);

}  // namespace paceline
