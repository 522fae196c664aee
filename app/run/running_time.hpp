// Predicts the cost of a run before it starts: for `paceline check`, for the order in which points
// are handed out, and for the time left. The prediction is good to a small factor; the time left is
// corrected as runs finish.
#pragma once

#include <optional>

#include "app/scenario/scenario.hpp"

namespace paceline {

/// Returns the seconds on one core if the network is idle. Contended messages cost several times as
/// much. Returns nothing if only a time limit ends the run and no closed form gives the number of
/// steps.
std::optional<double> expected_seconds(const Scenario& scenario);

/// Returns the simulated seconds until the end of the run, from the closed form or a time limit.
std::optional<double> expected_sim_seconds(const Scenario& scenario);

}  // namespace paceline
