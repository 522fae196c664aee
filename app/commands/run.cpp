// paceline run: runs the study of a scenario file and writes its results to a folder.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "app/commands/command.hpp"
#include "app/commands/console_log.hpp"
#include "app/commands/strict.hpp"
#include "app/host/console.hpp"
#include "app/host/interruption.hpp"
#include "app/host/output.hpp"
#include "app/json/config_error.hpp"
#include "app/questions/warnings/warnings.hpp"
#include "app/run/memory_check.hpp"
#include "app/run/table.hpp"
#include "app/study/link_records.hpp"
#include "app/study/ranks/communicator.hpp"
#include "app/study/ranks/follower.hpp"
#include "app/study/ranks/launch.hpp"
#include "app/study/ranks/leader.hpp"
#include "app/study/results_folder.hpp"
#include "app/study/run_study.hpp"
#include "app/study/tracing.hpp"

namespace paceline {

namespace {

namespace fs = std::filesystem;

struct RunArguments {
    const CLI::App* parser;  // that has read these
    ScenarioArguments scenario;
    std::string out;
    int jobs = 0;     // 0: the number of cores
    int threads = 0;  // for gradients; 0: the number of cores
    bool resume = false;
    bool force = false;
    bool quiet = false;
    bool log_json = false;
    bool no_mpi = false;

    // Returns how many points run concurrently, and how many threads compute gradients, on this
    // many cores.
    [[nodiscard]] PoolSize pool(int cores) const {
        return {static_cast<std::size_t>(jobs > 0 ? jobs : cores),
                static_cast<std::size_t>(threads > 0 ? threads : cores)};
    }
    bool trace = false;
    TraceArguments what_to_trace;
    bool links = false;
    std::string links_interval;
};

fs::path folder_of(const RunArguments& arguments) {
    return arguments.out.empty() ? "results" / fs::path(arguments.scenario.file).stem()
                                 : fs::path(arguments.out);
}

// Returns the shell command that resumes this run after a stop.
std::string resuming(const RunArguments& arguments) {
    return command_text(*arguments.parser) + (arguments.resume ? "" : " --resume");
}

int report_failures(const Study& study, const std::vector<PointResult>& results,
                    const ConsoleLog& log) {
    int code = done;
    for (std::size_t i = 0; i < results.size(); ++i) {
        const Metrics& m = results[i].metrics;
        if (m.outcome.empty() || !m.failed()) continue;
        log.note(fmt::format("point {}: {}{}{}", study.points.position(i).number, m.outcome,
                             m.outcome_details.empty() ? "" : ": ", m.outcome_details));
        code = point_failed;
    }
    return code;
}

void write_and_tell(const fs::path& folder, const Study& study, const StudyOutcome& outcome,
                    const RunInfo& info, const ConsoleLog& log) {
    if (const auto figures = replace_results(folder, study, outcome.results, info);
        !figures.empty())
        log.note(fmt::format("{}: removed figures of earlier results: {}", folder.string(),
                             fmt::join(figures, ", ")));
}

int finish(const RunArguments& arguments, const Study& study, const StudyOutcome& outcome,
           const RunInfo& info, const ConsoleLog& log) {
    const fs::path folder = folder_of(arguments);
    const auto there = static_cast<std::size_t>(std::ranges::count_if(
        outcome.results, [](const PointResult& r) { return !r.metrics.outcome.empty(); }));
    if (there > 0) write_and_tell(folder, study, outcome, info, log);  // else keep older ones
    if (arguments.log_json)
        log_json("end", {{"complete", outcome.complete},
                         {"done", there},
                         {"points", study.points.size()},
                         {"results", folder.string()},
                         {"wall_clock_s", info.wall_clock_s}});
    if (!arguments.quiet && there > 0)
        print(stdout,
              fmt::format(
                  "{}\n{} points in {:.2f} s{}; results in {}\n",
                  first_lines(speedup_table({study, outcome.results}), 200,
                              (folder / "table.txt").string()),
                  there, info.wall_clock_s,
                  outcome.kept > 0 ? fmt::format(" ({} kept from earlier runs)", outcome.kept) : "",
                  folder.string()));
    if (!outcome.complete)
        log.note(fmt::format(
            "stopped: {} of {} points are done{}; to resume: {}", there, study.points.size(),
            there > 0 ? ", " + (folder / "results.csv").string() + " has them" : "",
            resuming(arguments)));
    return report_failures(study, outcome.results, log);
}

int cores_of_machine() {
    return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

// Reads the study, and what there is to warn of. Throws ConfigError if the ranks of a machine
// together need more than its memory.
Study read_study_for(const RunArguments& arguments, const PoolSize& pool, const RankInfo& info,
                     Warnings& warnings) {
    MemoryCheck memory(static_cast<int>(pool.loops) * info.ranks_here);
    Study study = read_study(arguments.scenario.open(), arguments.scenario.settings,
                             arguments.scenario.picks, [&](const Point& point) {
                                 memory.see(point);
                                 warnings.see(point);
                             });
    memory.check(study.file, study.axes, study.sources.memory());
    return study;
}

// Sets `options` for rank 0 of a parallel job.
void take_others_along(StudyOptions& options, Leader& leader, const Study& study) {
    Hello own;
    sign(own, StudyRuns(study));
    leader.gather(own);
    options.loops_elsewhere = leader.loops_elsewhere();
    options.run_all = [&leader](auto&... all) { leader.run(all...); };
}

void warn_of_few_cores(const PoolSize& pool, const RankInfo& info, const ConsoleLog& log) {
    if (const std::size_t most = std::max(pool.loops, pool.threads);
        most > static_cast<std::size_t>(info.bound_to))
        log.warn(
            fmt::format("{} threads would share {} of the cores, because the launcher has bound "
                        "rank 0 to them; give mpirun --bind-to none",
                        most, info.bound_to));
}

// Throws OutputError as OwnFolder does.
void take_folder(std::optional<OwnFolder>& own, const RunArguments& arguments,
                 const ConsoleLog& log) {
    own.emplace(folder_of(arguments), command_text(*arguments.parser));
    if (!own->warning().empty()) log.warn(own->warning());
    if (!arguments.force && !arguments.resume) own->refuse_another(arguments.scenario.file);
}

void remove_links_of_another_run(const fs::path& folder) {
    std::error_code ignored;
    fs::remove(folder / "links.csv", ignored);
}

// Runs in this process alone if `leader` is null.
int run(const RunArguments& arguments, const ConsoleLog& log, Interruption& interruption,
        const RankInfo& info, Leader* leader) {
    const auto begin = std::chrono::steady_clock::now();
    StudyOptions options;
    options.pool = arguments.pool(info.cores);
    Warnings warnings;
    const Study study = read_study_for(arguments, options.pool, info, warnings);
    std::optional<Tracing> tracing;
    if (arguments.trace) tracing.emplace(study, arguments.what_to_trace);
    std::optional<LinkRecords> links;
    if (arguments.links) links.emplace(arguments.links_interval);
    if (leader != nullptr) {
        take_others_along(options, *leader, study);
        warn_of_few_cores(options.pool, info, log);
    }
    const std::vector<std::string> lines = warnings.lines(study.axes);
    for (const std::string& line : lines) log.warn(line);
    refuse_if_strict(arguments.scenario, lines);
    std::optional<OwnFolder> own;
    try {
        take_folder(own, arguments, log);
        if (tracing) tracing->write_into(own->path());
        if (links) links->write_into(own->path());
    } catch (const OutputError& error) {
        log.fail(error.what());
        return wrong_input;
    }

    if (arguments.log_json)
        options.telling = Telling::json;
    else if (!arguments.quiet && isatty(STDERR_FILENO) != 0)
        options.telling = Telling::line;
    options.keep_in = own->path() / "points";
    options.resume = arguments.resume;
    options.stop = interruption.token();
    options.begins = [&interruption] { interruption.hold(); };
    options.tracing = tracing ? &*tracing : nullptr;
    options.links = links ? &*links : nullptr;
    StudyOutcome outcome;
    try {
        outcome = run_study(study, options);
    } catch (const OutputError& error) {
        log.fail(fmt::format("{}; finished points are kept; to resume: {}", error.what(),
                             resuming(arguments)));
        return point_failed;
    }
    if (tracing)
        for (const std::string& warning : tracing->warnings()) log.warn(warning);
    for (const std::string& warning : outcome.warnings) log.warn(warning);
    if (links)
        for (const std::string& warning : links->warnings()) log.warn(warning);
    else
        remove_links_of_another_run(own->path());

    const std::chrono::duration<double> wall_clock = std::chrono::steady_clock::now() - begin;
    const auto jobs = static_cast<int>(options.pool.loops + options.loops_elsewhere);
    const int code =
        finish(arguments, study, outcome, {jobs, wall_clock.count(), outcome.complete}, log);
    return interruption.signal() != 0 ? 128 + interruption.signal() : code;
}

int run_as_leader(const RunArguments& arguments, Communicator& communicator,
                  Interruption& interruption) {
    const ConsoleLog log(arguments.log_json);
    Leader leader(communicator, [&interruption] { interruption.interrupt(SIGTERM); });
    const int code = exit_code_of(
        log, [&] { return run(arguments, log, interruption, communicator.info(), &leader); });
    if (!leader.dismiss(code)) communicator.abort(code);
    return code;
}

int run_as_follower(const RunArguments& arguments, Communicator& communicator,
                    Interruption& interruption) {
    const PoolSize pool = arguments.pool(communicator.info().cores);
    std::optional<Study> study;
    Warnings of_no_interest;  // the leader prints them
    try {
        study = read_study_for(arguments, pool, communicator.info(), of_no_interest);
    } catch (const std::exception& error) {
        return decline(communicator, error.what());
    }
    interruption.hold();
    return follow(communicator, *study, pool, interruption.token());
}

int run_as_rank(const RunArguments& arguments, Communicator& communicator,
                Interruption& interruption) {
    if (communicator.info().rank == 0) return run_as_leader(arguments, communicator, interruption);
    try {
        return run_as_follower(arguments, communicator, interruption);
    } catch (const std::exception& error) {
        ConsoleLog(arguments.log_json).fail(error.what());
        communicator.abort(point_failed);
    }
}

int run_alone_or_as_rank(const RunArguments& arguments) {
    const ConsoleLog log(arguments.log_json);
    const std::optional<Launch> launched = arguments.no_mpi ? std::nullopt : launch();
    // Must be created before any other thread, including those of MPI.
    Interruption interruption(launched ? SecondSignal::is_ignored : SecondSignal::ends_at_once);
    std::unique_ptr<Communicator> communicator;
    if (launched) {
        try {
            communicator = join_job();
        } catch (const ConfigError& error) {
            // If a rank other than 0 failed first, the launcher would kill the others before they
            // report why.
            if (launched->rank != 0) return done;
            log.fail(error.what());
            return wrong_input;
        }
    }
    if (communicator && (arguments.trace || arguments.links)) {
        if (launched->rank != 0) return done;
        log.fail(
            "--trace and --links need a single process, and this is a rank of an MPI job; add "
            "--no-mpi, or run a point alone");
        return wrong_input;
    }
    if (communicator) return run_as_rank(arguments, *communicator, interruption);
    return exit_code_of(log, [&] {
        RankInfo alone;
        alone.cores = cores_of_machine();
        return run(arguments, log, interruption, alone, nullptr);
    });
}

void add_trace_options(CLI::App& parser, RunArguments& arguments) {
    TraceArguments& what = arguments.what_to_trace;
    CLI::Option* const trace = parser.add_flag(
        "--trace", arguments.trace, "write traces for Perfetto into traces/ of the results folder");
    parser.add_option("--trace-points", what.points, "0,3..5 or all: which points to trace")
        ->needs(trace);
    parser
        .add_option("--trace-time", what.time,
                    "FROM..TO: the span of simulated time to trace, such as 1.5s..2s")
        ->needs(trace);
    parser.add_option("--trace-nodes", what.nodes, "0,1,4..7: which nodes to trace")->needs(trace);
    parser
        .add_option("--trace-iterations", what.iterations,
                    "A..B: which iterations to trace, counted from 0")
        ->needs(trace);
    parser
        .add_option("--trace-limit", what.limit,
                    "maximum number of events in a trace (default 1000000)")
        ->needs(trace)
        ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000'000}));
}

}  // namespace

Command run_command(CLI::App& program, const OwnParts& own) {
    CLI::App& parser = *program.add_subcommand("run", "run the study of a scenario file");
    const auto arguments = std::make_shared<RunArguments>();
    arguments->parser = &parser;
    add_scenario_arguments(parser, arguments->scenario);
    add_interval_option(parser, arguments->scenario);
    arguments->scenario.own = own;
    parser.add_option("--out", arguments->out, "folder for results (default results/<scenario>)")
        ->check(names_something());
    parser
        .add_option("--jobs", arguments->jobs,
                    "points run in parallel, per rank under MPI (default: its cores)")
        ->check(CLI::Range(1, 1024));
    parser
        .add_option(
            "--threads", arguments->threads,
            "threads that compute gradients, for all points together, of each rank (default: its "
            "cores)")
        ->check(CLI::Range(1, 1024));
    parser.add_flag("--resume", arguments->resume,
                    "keep the points that have finished in the results folder");
    parser.add_flag("--force", arguments->force,
                    "replace results of another scenario in the results folder");
    parser.add_flag("--quiet", arguments->quiet, "no progress line and no table");
    parser.add_flag("--log-json", arguments->log_json,
                    "log to standard error as JSON, one object per line");
    parser.add_flag("--no-mpi", arguments->no_mpi,
                    "run alone, even where an MPI launcher (mpirun, srun) has started this");
    add_trace_options(parser, *arguments);
    CLI::Option* const links =
        parser.add_flag("--links", arguments->links,
                        "write links.csv: bytes and utilization of each link over time");
    parser
        .add_option("--links-interval", arguments->links_interval,
                    "length of an interval of links.csv, such as 10ms (default: about 100 per run)")
        ->needs(links);
    return {&parser, [arguments] { return run_alone_or_as_rank(*arguments); }};
}

}  // namespace paceline
