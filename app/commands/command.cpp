#include "app/commands/command.hpp"

namespace paceline {

void add_scenario_arguments(CLI::App& parser, ScenarioArguments& arguments) {
    parser.add_option("SCENARIO", arguments.file, "a JSON scenario")->required();
    parser.add_option("--set", arguments.settings, "path=value: change the scenario")
        ->allow_extra_args(false)
        ->take_all();
}

}  // namespace paceline
