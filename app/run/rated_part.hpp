// What the rates of a run are about (step_costs.hpp says why whole periods), and the metrics that
// follow from its scenario.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "analysis/measures/metrics.hpp"
#include "analysis/measures/step_marks.hpp"
#include "app/scenario/scenario.hpp"

namespace paceline {

/// Returns whether a period ends with a number of steps; empty where each step ends one. Requires
/// that the scenario outlives it.
std::function<bool(std::int64_t)> periods_of(const Scenario& scenario);

struct HowItEnded {
    bool finished;
    bool nodes_fail;
};

/// Returns what the rates of a run are about: its whole periods, its whole steps, or all of it.
/// Nothing if no step was whole.
std::optional<Tally> rated_part(const Scenario& scenario, HowItEnded run, const StepMarks& marks,
                                const std::function<Tally()>& all);

struct RatedSteps {
    std::int64_t first;
    std::int64_t last;  // exclusively
};
RatedSteps rated_steps_of(const Scenario& scenario, const Metrics& metrics);

RunFacts facts_of(const Scenario& scenario);

/// Adds the metrics that follow from the scenario and the steps that were taken.
void add_ratios(Metrics& metrics, const Scenario& scenario);

}  // namespace paceline
