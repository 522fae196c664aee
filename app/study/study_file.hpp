// Opens a scenario file of this machine as a study.
#pragma once

#include <string>
#include <vector>

#include "app/scenario/study.hpp"

namespace paceline {

/// Returns the scenario in a file. Files that it names are relative to that file's folder. `own` is
/// what the caller brings besides the tables. Throws a ConfigError if the file cannot be read.
ScenarioText open_scenario(const std::string& file, OwnParts own = {});

/// Reads the study in a file. Throws ConfigError.
Study read_study(const std::string& file, const Settings& settings, const Picks& picks = {},
                 const SeePoint& see = {});

}  // namespace paceline
