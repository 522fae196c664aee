// The interval of a point's times ("interval" in "measure"): how far real ones may be.
//
// A point is run a few times more, without values and for few steps: with computing that takes no
// time, with costs of TCP that the scenario does not state, and with each of its "draws", which are
// constants that measurements leave open. analysis/trust/time_interval.hpp says what follows.
#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "analysis/measures/metrics.hpp"
#include "app/scenario/scenario.hpp"

namespace paceline {

/// Returns the interval of the times of a run that has these metrics; nothing if it has no step
/// time. Where nothing is sent, there is nothing to miss. `run` runs a scenario.
std::optional<TimeInterval> time_interval(const Scenario& scenario, const Metrics& metrics,
                                          const std::function<Metrics(const Scenario&)>& run);

/// Returns why nothing that was validated is like the scenario, such as "its nodes fail"; empty if
/// something is.
std::string_view why_unlike_all(const Scenario& scenario);

}  // namespace paceline
