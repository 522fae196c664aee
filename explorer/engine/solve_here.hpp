// `paceline solve` for the page: finds where a column of a scenario equals a number, or the same
// column of the scenario with other settings.
#pragma once

#include "app/json/json_file.hpp"
#include "app/scenario/study.hpp"

namespace paceline {

/// Returns the values at which the sides cross, and the grid that was looked at. Throws ConfigError.
Json solve_here(const Json& request, const ScenarioText& scenario);

}  // namespace paceline
