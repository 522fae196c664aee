// paceline check: reports what would run, or what is wrong and where.
#include <memory>

#include <fmt/format.h>

#include "app/commands/command.hpp"
#include "app/questions/list_text.hpp"
#include "app/study/run_study.hpp"
#include "app/study/study_file.hpp"

namespace paceline {

namespace {

int check(const ScenarioArguments& arguments) {
    const Study study = read_study(arguments.file, arguments.settings);
    check_memory(study, 1);
    fmt::print("{}", check_text(study));
    return done;
}

}  // namespace

Command check_command(CLI::App& program) {
    CLI::App& parser =
        *program.add_subcommand("check", "say what would run, or what is wrong and where");
    const auto arguments = std::make_shared<ScenarioArguments>();
    add_scenario_arguments(parser, *arguments);
    return {&parser, [arguments] { return check(*arguments); }};
}

}  // namespace paceline
