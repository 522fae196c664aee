// paceline run: runs the study of a scenario file and leaves its results in a folder.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <tbb/global_control.h>
#include <unistd.h>

#include "app/baseline.hpp"
#include "app/commands/command.hpp"
#include "app/mixing_report.hpp"
#include "app/output.hpp"
#include "app/run_study.hpp"

namespace paceline {

namespace {

struct Arguments {
    ScenarioArguments scenario;
    std::string out;
    int jobs = 0;     // 0: as many as there are cores
    int threads = 0;  // of gradients; 0: as many as there are cores
    bool quiet = false;
};

int report_failures(const std::vector<PointResult>& results) {
    int code = done;
    for (std::size_t i = 0; i < results.size(); ++i) {
        const Metrics& m = results[i].metrics;
        if (!m.failed()) continue;
        fmt::print(stderr, "point {}: {}{}{}\n", i, m.outcome,
                   m.outcome_details.empty() ? "" : ": ", m.outcome_details);
        code = point_failed;
    }
    return code;
}

int run(const Arguments& arguments) {
    const auto begin = std::chrono::steady_clock::now();
    const Study study = read_study(arguments.scenario.file, arguments.scenario.settings);
    const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    const int jobs = arguments.jobs > 0 ? arguments.jobs : cores;
    check_memory(study, jobs);
    for (const std::string& warning : mixing_warnings(study))
        fmt::print(stderr, "paceline: warning: {}\n", warning);
    const std::filesystem::path folder =
        arguments.out.empty() ? std::filesystem::path("results") /
                                    std::filesystem::path(arguments.scenario.file).stem()
                              : std::filesystem::path(arguments.out);
    try {
        prepare_folder(folder);
    } catch (const OutputError& error) {
        fmt::print(stderr, "paceline: {}\n", error.what());
        return wrong_input;
    }

    const tbb::global_control threads(
        tbb::global_control::max_allowed_parallelism,
        static_cast<std::size_t>(arguments.threads > 0 ? arguments.threads : cores));
    const bool show_progress = !arguments.quiet && isatty(STDERR_FILENO) != 0;
    std::vector<PointResult> results = run_points(study, jobs, show_progress);
    add_speedups_to_target(study, results);
    const std::chrono::duration<double> wall_clock = std::chrono::steady_clock::now() - begin;
    write_results(folder, study, results, {jobs, wall_clock.count()});

    if (!arguments.quiet && isatty(STDOUT_FILENO) != 0)
        fmt::print("{}\n{} points in {:.2f} s; results in {}\n", speedup_table(study, results),
                   results.size(), wall_clock.count(), folder.string());
    return report_failures(results);
}

}  // namespace

Command run_command(CLI::App& program) {
    CLI::App& parser = *program.add_subcommand("run", "run the study of a scenario file");
    const auto arguments = std::make_shared<Arguments>();
    add_scenario_arguments(parser, arguments->scenario);
    parser.add_option("--out", arguments->out, "folder for results (default results/<scenario>)");
    parser.add_option("--jobs", arguments->jobs, "points run side by side (default: cores)")
        ->check(CLI::Range(1, 1024));
    parser
        .add_option("--threads", arguments->threads,
                    "threads that compute gradients, for all points together (default: cores)")
        ->check(CLI::Range(1, 1024));
    parser.add_flag("--quiet", arguments->quiet, "no progress line and no table");
    return {&parser, [arguments] { return run(*arguments); }};
}

}  // namespace paceline
