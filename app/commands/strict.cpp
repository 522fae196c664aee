#include "app/commands/strict.hpp"

#include <fmt/format.h>

#include "app/commands/console_log.hpp"
#include "app/json/config_error.hpp"

namespace paceline {

void refuse_if_strict(const ScenarioArguments& arguments,
                      const std::vector<std::string>& warnings) {
    if (arguments.strict && !warnings.empty())
        throw ConfigError(
            arguments.file, "",
            fmt::format("--strict makes its {} {}", warnings.size(),
                        warnings.size() == 1 ? "warning an error" : "warnings errors"));
}

void tell_warnings(const ScenarioArguments& arguments, const std::vector<std::string>& warnings) {
    for (const std::string& warning : warnings) ConsoleLog().warn(warning);
    refuse_if_strict(arguments, warnings);
}

}  // namespace paceline
