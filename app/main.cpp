// The command line: paceline run | check | list. Exit codes: 0 done, 1 a point failed, 2 the
// scenario or the command line is wrong.
#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <tbb/global_control.h>
#include <unistd.h>

#include "app/baseline.hpp"
#include "app/config_error.hpp"
#include "app/lists.hpp"
#include "app/mixing_report.hpp"
#include "app/names.hpp"
#include "app/output.hpp"
#include "app/run_study.hpp"
#include "app/version.hpp"

namespace {

using namespace paceline;

constexpr int done = 0;
constexpr int point_failed = 1;
constexpr int wrong_input = 2;

struct Arguments {
    std::string scenario;
    std::vector<std::string> settings;
    std::string out;
    std::string list;
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
    const Study study = read_study(arguments.scenario, arguments.settings);
    const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    const int jobs = arguments.jobs > 0 ? arguments.jobs : cores;
    check_memory(study, jobs);
    for (const std::string& warning : mixing_warnings(study))
        fmt::print(stderr, "paceline: warning: {}\n", warning);
    const std::filesystem::path folder =
        arguments.out.empty()
            ? std::filesystem::path("results") / std::filesystem::path(arguments.scenario).stem()
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

int check(const Arguments& arguments) {
    const Study study = read_study(arguments.scenario, arguments.settings);
    check_memory(study, 1);
    fmt::print("{}", check_text(study));
    return done;
}

int list(const Arguments& arguments) {
    const auto known = list_names();
    if (!arguments.list.empty() &&
        std::ranges::find(known, std::string_view(arguments.list)) == known.end())
        throw ConfigError("command line", "list", unknown_name(arguments.list, "a list", known));
    fmt::print("{}", list_text(arguments.list));
    return done;
}

int dispatch(int argc, char** argv) {
    Arguments arguments;
    CLI::App app{"paceline: how fast would this training algorithm train on that network?",
                 "paceline"};
    app.set_version_flag("--version", std::string("paceline ") + version);
    app.require_subcommand(1);

    CLI::App& run_command = *app.add_subcommand("run", "run the study of a scenario file");
    CLI::App& check_command =
        *app.add_subcommand("check", "say what would run, or what is wrong and where");
    for (CLI::App* command : {&run_command, &check_command}) {
        command->add_option("SCENARIO", arguments.scenario, "a JSON scenario")->required();
        command->add_option("--set", arguments.settings, "path=value: change the scenario")
            ->allow_extra_args(false)
            ->take_all();
    }
    run_command.add_option("--out", arguments.out,
                           "folder for results (default results/<scenario>)");
    run_command.add_option("--jobs", arguments.jobs, "points run side by side (default: cores)")
        ->check(CLI::Range(1, 1024));
    run_command
        .add_option("--threads", arguments.threads,
                    "threads that compute gradients, for all points together (default: cores)")
        ->check(CLI::Range(1, 1024));
    run_command.add_flag("--quiet", arguments.quiet, "no progress line and no table");
    CLI::App& list_command = *app.add_subcommand("list", "say what can be named in a scenario");
    list_command.add_option(
        "WHAT", arguments.list,
        "algorithms, fabrics, mixings, models, data, profiles, devices, links or collectives");

    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        const int code = app.exit(error);
        return code == 0 ? done : wrong_input;
    }
    if (run_command.parsed()) return run(arguments);
    if (check_command.parsed()) return check(arguments);
    return list(arguments);
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return dispatch(argc, argv);
    } catch (const paceline::ConfigError& error) {
        fmt::print(stderr, "paceline: {}\n", error.what());
        return wrong_input;
    } catch (const paceline::OutputError& error) {
        fmt::print(stderr, "paceline: {}\n", error.what());
        return point_failed;
    } catch (const std::exception& error) {
        fmt::print(stderr, "paceline: a fault of the program itself, please report it: {}\n",
                   error.what());
        return point_failed;
    }
}
