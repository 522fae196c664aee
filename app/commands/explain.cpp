// paceline explain: explains why the steps of one point of a study take as long as they do.
#include "app/questions/explain.hpp"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "app/commands/command.hpp"
#include "app/commands/console_log.hpp"
#include "app/commands/strict.hpp"
#include "app/host/console.hpp"
#include "app/questions/job_in_front.hpp"
#include "app/questions/warnings/warnings.hpp"
#include "app/run/memory_check.hpp"
#include "app/study/on_threads.hpp"
#include "app/study/run_study.hpp"

namespace paceline {

namespace {

struct ExplainArguments {
    ScenarioArguments scenario;
    std::optional<std::size_t> point;
    std::string job;  // empty: the main one
    bool json = false;
};

int explain(const ExplainArguments& arguments) {
    const Study study = read_study(arguments.scenario.open(), arguments.scenario.settings,
                                   arguments.scenario.picks);
    const std::size_t number = point_to_explain(study, arguments.point);
    const int threads = std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, 4);
    const Study alone{study.file, study.title, study.axes, study.points.only({number}),
                      study.sources};
    check_memory(alone, 1);
    Point point = study.points[number];
    if (!arguments.job.empty()) point = with_job_in_front(study, point, arguments.job);
    const Study explained{study.file, study.title, study.axes, Points({point}), study.sources};
    point.scenario = as_explained(std::move(point.scenario));
    Warnings warnings;
    warnings.see(point);
    tell_warnings(arguments.scenario, warnings.lines(study.axes));
    ExplainOptions options;
    options.for_each = [threads](std::size_t count, const std::function<void(std::size_t)>& body) {
        on_threads(threads, count, body);
    };
    Explanation explanation = explain_point(explained, 0, options);
    explanation.point = number;
    explanation.points = study.points.size();
    if (!arguments.job.empty()) explanation.choice.emplace_back("job", arguments.job);
    print(stdout, arguments.json ? explanation_json(explanation) : explanation_text(explanation));
    if (!explanation.as_is.failed()) return done;
    ConsoleLog().note(fmt::format("point {}: {}", number, explanation.as_is.outcome));
    return point_failed;
}

}  // namespace

Command explain_command(CLI::App& program, const OwnParts& own) {
    CLI::App& parser = *program.add_subcommand(
        "explain", "show where a step's time goes in one point of a study, and what would help");
    const auto arguments = std::make_shared<ExplainArguments>();
    add_scenario_arguments(parser, arguments->scenario);
    arguments->scenario.own = own;
    parser.add_option("--point", arguments->point,
                      "number of the point, as in results.csv (default: the only one)");
    parser
        .add_option("--job", arguments->job,
                    "explain this one of several jobs, by its label (default: the main job)")
        ->check(names_something());
    parser.add_flag("--json", arguments->json, "print JSON, with times in seconds");
    return {&parser, [arguments] { return explain(*arguments); }};
}

}  // namespace paceline
