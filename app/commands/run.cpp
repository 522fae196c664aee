// paceline run: runs the study of a scenario file and leaves its results in a folder.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "app/commands/command.hpp"
#include "app/config_error.hpp"
#include "app/interruption.hpp"
#include "app/mixing_report.hpp"
#include "app/output.hpp"
#include "app/run_study.hpp"
#include "app/terminal.hpp"
#include "app/tracing.hpp"

namespace paceline {

namespace {

namespace fs = std::filesystem;

struct Arguments {
    ScenarioArguments scenario;
    std::string out;
    int jobs = 0;     // 0: as many as there are cores
    int threads = 0;  // of gradients; 0: as many as there are cores
    bool resume = false;
    bool quiet = false;
    bool log_json = false;
    bool trace = false;
    TraceArguments what_to_trace;
};

fs::path folder_of(const Arguments& arguments) {
    return arguments.out.empty() ? "results" / fs::path(arguments.scenario.file).stem()
                                 : fs::path(arguments.out);
}

// The command line that goes on where this one was stopped, for a shell.
std::string resuming(const Arguments& arguments) {
    const auto quoted = [](const std::string& text) {
        constexpr std::string_view plain =
            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=,:+";
        if (!text.empty() && text.find_first_not_of(plain) == std::string::npos) return text;
        std::string all = "'";
        for (const char c : text) all += c == '\'' ? std::string("'\\''") : std::string(1, c);
        return all + "'";
    };
    std::string line = "paceline run " + quoted(arguments.scenario.file);
    for (const std::string& setting : arguments.scenario.settings)
        line += " --set " + quoted(setting);
    if (!arguments.out.empty()) line += " --out " + quoted(arguments.out);
    return line + " --resume";
}

class Teller {
  public:
    explicit Teller(bool json) : json_(json) {}

    void warn(const std::string& text) const {
        say("warning", text, "paceline: " + yellow(stderr, "warning:"));
    }
    void fail(const std::string& text) const { say("error", text, red(stderr, "paceline:")); }
    void note(const std::string& text) const { say("note", text, "paceline:"); }

  private:
    void say(const char* event, const std::string& text, const std::string& prefix) const {
        if (json_)
            log_json(event, {{"text", text}});
        else
            fmt::print(stderr, "{} {}\n", prefix, text);
    }

    bool json_;
};

int report_failures(const Study& study, const std::vector<PointResult>& results,
                    const Teller& teller) {
    int code = done;
    for (std::size_t i = 0; i < results.size(); ++i) {
        const Metrics& m = results[i].metrics;
        if (m.outcome.empty() || !m.failed()) continue;
        teller.note(fmt::format("point {}: {}{}{}", study.points[i].number, m.outcome,
                                m.outcome_details.empty() ? "" : ": ", m.outcome_details));
        code = point_failed;
    }
    return code;
}

int finish(const Arguments& arguments, const Study& study, const StudyOutcome& outcome,
           const RunInfo& info, const Teller& teller) {
    const fs::path folder = folder_of(arguments);
    write_results(folder, study, outcome.results, info);
    const auto there = static_cast<std::size_t>(std::ranges::count_if(
        outcome.results, [](const PointResult& r) { return !r.metrics.outcome.empty(); }));
    if (arguments.log_json)
        log_json("end", {{"complete", outcome.complete},
                         {"done", there},
                         {"points", study.points.size()},
                         {"results", folder.string()},
                         {"wall_clock_s", info.wall_clock_s}});
    if (!arguments.quiet && isatty(STDOUT_FILENO) != 0)
        fmt::print("{}\n{} points in {:.2f} s{}; results in {}\n",
                   speedup_table(study, outcome.results), there, info.wall_clock_s,
                   outcome.kept > 0 ? fmt::format(" ({} kept from before)", outcome.kept) : "",
                   folder.string());
    if (!outcome.complete)
        teller.note(fmt::format("stopped: {} of {} points are done, {} has them; to go on: {}",
                                there, study.points.size(), (folder / "results.csv").string(),
                                resuming(arguments)));
    return report_failures(study, outcome.results, teller);
}

int run(const Arguments& arguments, const Teller& teller) {
    const Interruption interruption;  // before any other thread
    const auto begin = std::chrono::steady_clock::now();
    const Study study = read_study(arguments.scenario.file, arguments.scenario.settings);
    const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    const int jobs = arguments.jobs > 0 ? arguments.jobs : cores;
    check_memory(study, jobs);
    std::optional<Tracing> tracing;
    if (arguments.trace) tracing.emplace(study, arguments.what_to_trace);
    for (const std::string& warning : mixing_warnings(study)) teller.warn(warning);
    const fs::path folder = folder_of(arguments);
    try {
        prepare_folder(folder);
        if (tracing) tracing->write_into(folder);
    } catch (const OutputError& error) {
        teller.fail(error.what());
        return wrong_input;
    }

    StudyOptions options;
    options.pool = {static_cast<std::size_t>(jobs),
                    static_cast<std::size_t>(arguments.threads > 0 ? arguments.threads : cores)};
    if (arguments.log_json)
        options.telling = Telling::json;
    else if (!arguments.quiet && isatty(STDERR_FILENO) != 0)
        options.telling = Telling::line;
    options.keep_in = folder / "points";
    options.resume = arguments.resume;
    options.stop = interruption.token();
    options.tracing = tracing ? &*tracing : nullptr;
    const StudyOutcome outcome = run_study(study, options);
    if (tracing)
        for (const std::string& warning : tracing->warnings()) teller.warn(warning);

    const std::chrono::duration<double> wall_clock = std::chrono::steady_clock::now() - begin;
    const int code =
        finish(arguments, study, outcome, {jobs, wall_clock.count(), outcome.complete}, teller);
    return interruption.signal() != 0 ? 128 + interruption.signal() : code;
}

// With --log-json, mistakes and failures are lines of it, too.
int run_and_tell(const Arguments& arguments) {
    const Teller teller(arguments.log_json);
    if (!arguments.log_json) return run(arguments, teller);
    try {
        return run(arguments, teller);
    } catch (const ConfigError& error) {
        teller.fail(error.what());
        return wrong_input;
    } catch (const OutputError& error) {
        teller.fail(error.what());
        return point_failed;
    }
}

void add_trace_options(CLI::App& parser, Arguments& arguments) {
    TraceArguments& what = arguments.what_to_trace;
    CLI::Option* const trace = parser.add_flag(
        "--trace", arguments.trace, "write traces for Perfetto into traces/ of the results folder");
    parser.add_option("--trace-points", what.points, "0,3..5 or all: which points to trace")
        ->needs(trace);
    parser
        .add_option("--trace-time", what.time,
                    "FROM..TO: what of the simulated time, such as 1.5s..2s")
        ->needs(trace);
    parser.add_option("--trace-nodes", what.nodes, "0,1,4..7: which nodes")->needs(trace);
    parser.add_option("--trace-iterations", what.iterations, "A..B: which iterations, from 0 on")
        ->needs(trace);
    parser.add_option("--trace-limit", what.limit, "most events of a trace (default 1000000)")
        ->needs(trace)
        ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000'000}));
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
    parser.add_flag("--resume", arguments->resume,
                    "take the points that are finished in the folder for results");
    parser.add_flag("--quiet", arguments->quiet, "no progress line and no table");
    parser.add_flag("--log-json", arguments->log_json,
                    "tell what happens on standard error, a JSON object per line");
    add_trace_options(parser, *arguments);
    return {&parser, [arguments] { return run_and_tell(*arguments); }};
}

}  // namespace paceline
