// paceline calibrate: fits constants of a scenario to what was measured, and writes a testbed.
#include "app/questions/calibrate/calibrate.hpp"

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "app/commands/command.hpp"
#include "app/commands/console_log.hpp"
#include "app/host/console.hpp"
#include "app/host/files.hpp"
#include "app/host/output.hpp"
#include "app/json/config_error.hpp"
#include "app/questions/calibrate/calibration_text.hpp"
#include "app/questions/calibrate/testbed_json.hpp"
#include "app/questions/solve_points.hpp"
#include "app/study/point_key.hpp"
#include "models/data/files/data_error.hpp"

namespace paceline {

namespace {

namespace fs = std::filesystem;

struct CalibrateArguments {
    ScenarioArguments scenario;
    std::vector<std::string> measured;
    std::vector<std::string> free;
    double level = usual_level;
    double noise = usual_noise;
    std::string out;  // empty: no file is written
    int jobs = 0;     // 0: the number of cores
    bool json = false;
    bool quiet = false;
};

// Throws ConfigError if there is a file of this name that no calibration has written.
void refuse_another_file(const std::string& out) {
    std::error_code ignored;
    if (!fs::exists(out, ignored)) return;
    const Json there =
        fs::is_regular_file(out, ignored) ? Json::parse(read_text(out), nullptr, false) : Json();
    if (!there.is_object() || !there.contains("constants") || !there.contains("cluster"))
        throw ConfigError(
            "command line", "--out " + out,
            "exists and is not a testbed written by paceline calibrate; name another file");
}

// A line on the terminal that each step of the work replaces.
class StatusLine {
  public:
    explicit StatusLine(bool quiet) : shown_(!quiet && isatty(STDERR_FILENO) != 0) {}
    StatusLine(const StatusLine&) = delete;
    StatusLine& operator=(const StatusLine&) = delete;
    ~StatusLine() { tell(""); }

    void tell(const std::string& line) const {
        if (!shown_) return;
        std::fputs(fmt::format("\r\033[K{}", line).c_str(), stderr);
        std::fflush(stderr);
    }

  private:
    bool shown_;
};

std::string content_of(const std::string& file) {
    std::error_code ignored;
    if (!fs::is_regular_file(file, ignored))
        throw ConfigError(file, "", "there is no such file; give a table or what a tool printed");
    try {
        const std::vector<unsigned char> bytes = read_bytes(file);
        return {bytes.begin(), bytes.end()};
    } catch (const DataError& error) {
        throw ConfigError("command line", "measured", error.what());
    }
}

CalibrationQuestion question_of(const CalibrateArguments& arguments) {
    CalibrationQuestion question{arguments.scenario.open(),
                                 arguments.scenario.settings,
                                 arguments.scenario.picks,
                                 arguments.free,
                                 {},
                                 arguments.level,
                                 arguments.noise};
    for (const std::string& file : arguments.measured)
        question.measured.push_back({file, content_of(file)});
    return question;
}

std::string today() {
    const auto now = std::chrono::system_clock::now();
    return fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::chrono::system_clock::to_time_t(now)));
}

int calibrate_and_tell(const CalibrateArguments& arguments) {
    Interruption interruption;  // must precede any other thread
    if (!arguments.out.empty()) refuse_another_file(arguments.out);
    CalibrationQuestion question = question_of(arguments);
    return exit_code_of_question(interruption, "stopped; nothing was written", [&] {
        std::optional<StatusLine> status(arguments.quiet);
        question.tell = [&status](const std::string& line) { status->tell(line); };
        const Calibration found =
            calibrate(question, concurrently(options_of_question(arguments.jobs, interruption)));
        status.reset();
        const std::string testbed = testbed_json(found, program_name(), today());
        if (!arguments.out.empty()) write_file(arguments.out, testbed);
        print(stdout, arguments.json ? testbed : calibration_text(found));
        if (arguments.json || arguments.quiet) return done;
        ConsoleLog().note(
            arguments.out.empty()
                ? "no testbed was written; --out FILE writes one that scenarios can name"
                : fmt::format("scenarios name it: \"cluster\": {{\"testbed\": \"{}\", ...}}",
                              arguments.out));
        return done;
    });
}

}  // namespace

Command calibrate_command(CLI::App& program, const OwnParts& own) {
    CLI::App& parser =
        *program.add_subcommand("calibrate",
                                "fit a scenario's constants to measurements, with intervals, and "
                                "write a testbed that scenarios can name");
    const auto arguments = std::make_shared<CalibrateArguments>();
    add_scenario_arguments(parser, arguments->scenario);
    arguments->scenario.own = own;
    parser
        .add_option("measured", arguments->measured,
                    "CSV with columns of results.csv and paths, or output of nccl-tests, OSU, "
                    "iperf3 --json, or a trace of torch.profiler")
        ->required()
        ->check(names_something());
    parser
        .add_option("--free", arguments->free,
                    "path=from..to: a constant of the cluster or the workload, and its range")
        ->required()
        ->allow_extra_args(false)
        ->take_all();
    parser.add_option("--level", arguments->level, "coverage of the intervals (default: 0.9)")
        ->check(CLI::Range(0.5, 0.999));
    parser
        .add_option("--noise", arguments->noise,
                    "relative error of a row, used if there are too few rows to estimate it "
                    "(default: 0.05)")
        ->check(CLI::Range(1e-4, 1.0));
    parser.add_option("--out", arguments->out, "the file for the testbed")
        ->check(names_something());
    parser
        .add_option("--jobs", arguments->jobs, "points run in parallel (default: number of cores)")
        ->check(CLI::Range(1, 1024));
    parser.add_flag("--json", arguments->json, "print the testbed");
    parser.add_flag("--quiet", arguments->quiet, "no progress line and no notes");
    return {&parser, [arguments] { return calibrate_and_tell(*arguments); }};
}

}  // namespace paceline
