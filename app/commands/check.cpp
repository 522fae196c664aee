// paceline check: reports what would run, or what is wrong and where.
#include <cstdio>
#include <memory>

#include "app/commands/command.hpp"
#include "app/commands/strict.hpp"
#include "app/host/console.hpp"
#include "app/questions/check_text.hpp"
#include "app/run/memory_check.hpp"
#include "app/study/run_study.hpp"

namespace paceline {

namespace {

int check_scenario(const ScenarioArguments& arguments) {
    StudyCheck check;
    const Study study = read_study(arguments.open(), arguments.settings, arguments.picks,
                                   [&](const Point& point) { check.see(point); });
    check.memory().check(study.file, study.axes, study.sources.memory());
    const CheckReport report = check.report(study);
    print(stdout, report.text);
    refuse_if_strict(arguments, report.warnings);
    return done;
}

}  // namespace

Command check_command(CLI::App& program, const OwnParts& own) {
    CLI::App& parser = *program.add_subcommand(
        "check", "show what would run, or report errors with their location");
    const auto arguments = std::make_shared<ScenarioArguments>();
    add_scenario_arguments(parser, *arguments);
    add_interval_option(parser, *arguments);
    arguments->own = own;
    return {&parser, [arguments] { return check_scenario(*arguments); }};
}

}  // namespace paceline
