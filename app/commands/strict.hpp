// What the commands do with warnings: they print them, and with --strict they refuse the study.
#pragma once

#include <string>
#include <vector>

#include "app/commands/command.hpp"

namespace paceline {

/// Throws ConfigError if there are warnings and --strict makes them errors.
void refuse_if_strict(const ScenarioArguments& arguments, const std::vector<std::string>& warnings);

/// Tells warnings on standard error, and refuses them as above.
void tell_warnings(const ScenarioArguments& arguments, const std::vector<std::string>& warnings);

}  // namespace paceline
