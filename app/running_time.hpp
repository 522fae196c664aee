// What a run is expected to cost, before it runs: for `paceline check`, for the order in which points
// are handed out, and for the time left. Good to a small factor; the time left learns the rest.
#pragma once

#include <optional>

#include "app/scenario.hpp"

namespace paceline {

/// Seconds on one core where the network is idle; contended messages cost several times as much.
/// Nothing where only time ends the run and no closed form says how many steps that is.
std::optional<double> expected_seconds(const Scenario& scenario);

/// Simulated seconds until its end by the closed form or a time limit.
std::optional<double> expected_sim_seconds(const Scenario& scenario);

}  // namespace paceline
