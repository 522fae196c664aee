// Warnings about which steps a run takes: whole periods (app/run/step_costs.hpp), warm-ups, and
// what an exchange of a step consists of. Each function returns the text, or nothing if all is
// well.
#pragma once

#include <string>

#include "app/scenario/scenario.hpp"

namespace paceline {

/// The steps are no multiple of the algorithm's period, so that rates are those of fewer steps.
std::string unfinished_period(const Scenario& scenario);

/// Not one period fits into the run, so that rates are not those of a longer run.
std::string no_whole_period(const Scenario& scenario);
std::string no_rated_period(const Scenario& scenario);

/// The run ends within a warm-up: before the stage that the algorithm is known for.
std::string unfinished_warm_up(const Scenario& scenario);

/// The algorithm exchanges many tensors one by one, at a cost.
std::string one_by_one(const Scenario& scenario);

/// The exchange is flat over machines of several devices, at a cost.
std::string flat_over_machines(const Scenario& scenario);

/// Gradients are computed in 16 bits and sent in 32, which the scenario does not ask for.
std::string wide_wire(const Scenario& scenario);

/// What the codec sends of a gradient weighs more than the gradient in fp32.
std::string more_than_dense(const Scenario& scenario);

}  // namespace paceline
