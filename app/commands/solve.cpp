// paceline solve: finds the values of one quantity for which a result is as requested.
#include "app/questions/solve.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "app/commands/command.hpp"
#include "app/commands/console_log.hpp"
#include "app/commands/strict.hpp"
#include "app/host/console.hpp"
#include "app/host/interruption.hpp"
#include "app/host/output.hpp"
#include "app/json/config_error.hpp"
#include "app/questions/rows/solve_rows.hpp"
#include "app/questions/rows/solve_rows_text.hpp"
#include "app/questions/solve_points.hpp"
#include "app/questions/solve_text.hpp"
#include "app/study/results_folder.hpp"
#include "app/study/run_study.hpp"

namespace paceline {

namespace {

namespace fs = std::filesystem;

struct SolveArguments {
    ScenarioArguments scenario;
    SolveQuestion question;
    std::string scale;
    std::string cache;
    std::string out;  // empty: no files are written
    const CLI::App* parser = nullptr;
    int jobs = 0;  // 0: the number of cores
    bool json = false;
    bool quiet = false;
};

fs::path cache_folder(const SolveArguments& arguments) {
    return arguments.cache.empty() ? "results" / fs::path(arguments.scenario.file).stem() / "points"
                                   : fs::path(arguments.cache);
}

SolveQuestion question_of(const SolveArguments& arguments) {
    SolveQuestion question = arguments.question;
    question.file = arguments.scenario.file;
    question.settings = arguments.scenario.settings;
    question.picks = arguments.scenario.picks;
    if (!arguments.scale.empty())
        question.scale = arguments.scale == "log" ? Scale::logarithmic : Scale::linear;
    return question;
}

StudyOptions options_of(const SolveArguments& arguments, Interruption& interruption) {
    StudyOptions options = options_of_question(arguments.jobs, interruption);
    if (!arguments.quiet && isatty(STDERR_FILENO) != 0) options.telling = Telling::line;
    options.keep_in = cache_folder(arguments);
    return options;
}

// Takes the folder for the points and the answers, if there is to be one. Throws OutputError if it
// holds something else.
void take_folder_for_answers(std::optional<OwnFolder>& folder, const SolveArguments& arguments) {
    if (arguments.out.empty()) return;
    folder.emplace(arguments.out, command_text(*arguments.parser));
    folder->refuse_another(arguments.scenario.file);
    std::error_code ignored;
    if (fs::exists(folder->path() / "results.csv", ignored) &&
        !fs::exists(folder->path() / "answers.csv", ignored))
        throw OutputError(
            fmt::format("{} holds results of paceline run; name another folder with --out",
                        folder->path().string()));
}

void write_answers(const fs::path& folder, const SolveRows& rows,
                   const std::vector<SolvedRow>& solved) {
    const SearchedStudy searched = searched_study(rows, solved);
    const std::string before = hash_of_tables(folder);
    write_results(folder, searched.study, searched.results, {1, 0});
    write_file(folder / "answers.csv", answers_csv(rows, solved));
    if (hash_of_tables(folder) != before) remove_figures(folder);
}

bool is_anything_known(const std::vector<SolvedRow>& solved) {
    return std::ranges::any_of(
        solved, [](const SolvedRow& row) { return row.solution && row.solution->found.closest; });
}

// Answers a question about one point, or about each point of a study.
int answer(const SolveArguments& arguments, const SolveQuestion& question,
           const ScenarioText& scenario, const Evaluate& evaluate) {
    const SolveRows rows = solve_rows(question, scenario);
    const bool several = rows.rows.size() > 1;
    tell_warnings(arguments.scenario,
                  several ? solve_rows_warnings(rows) : solve_warnings(question, scenario));
    std::optional<OwnFolder> folder;
    take_folder_for_answers(folder, arguments);
    std::vector<SolvedRow> solved;
    if (several)
        solved = solve_all(rows, evaluate);
    else
        solved.push_back({solve(question, scenario, evaluate)});
    if (folder) write_answers(folder->path(), rows, solved);
    if (several)
        print(stdout, arguments.json ? solved_rows_json(rows, solved)
                                     : solved_rows_text(question, rows, solved));
    else
        print(stdout, arguments.json ? solution_json(question, *solved.front().solution)
                                     : solution_text(question, *solved.front().solution));
    return is_anything_known(solved) ? done : point_failed;
}

int solve_and_tell(const SolveArguments& arguments) {
    Interruption interruption;  // must precede any other thread
    const SolveQuestion question = question_of(arguments);
    const ScenarioText scenario = arguments.scenario.open();
    return exit_code_of_question(
        interruption,
        fmt::format(
            "stopped; finished points are kept in {}, and the same command resumes from them",
            cache_folder(arguments).string()),
        [&] {
            return answer(arguments, question, scenario,
                          concurrently(options_of(arguments, interruption)));
        });
}

void add_question(CLI::App& parser, SolveQuestion& question) {
    parser.add_option("--vary", question.vary, "path=from..to: the free quantity and its range")
        ->required();
    parser.add_option("--find", question.column, "the column of results.csv to compare")
        ->required();
    parser.add_option("--equals", question.equals, "the value that the column should have");
    parser
        .add_option("--against", question.against,
                    "path=value: compare with the same scenario with this setting; the free "
                    "quantity varies there as well unless this fixes it")
        ->allow_extra_args(false)
        ->take_all();
    parser.add_option("--times", question.times,
                      "multiple of the other scenario's column (default: 1)");
    parser
        .add_option("--grid", question.grid,
                    "values tried before bisection (default: 25; whole numbers: all up to 200)")
        ->check(CLI::Range(2, 100000));
    parser
        .add_option("--tolerance", question.tolerance,
                    "relative width at which bisection stops (default: 1e-4)")
        ->check(CLI::Range(1e-12, 0.1));
}

}  // namespace

Command solve_command(CLI::App& program, const OwnParts& own) {
    CLI::App& parser =
        *program.add_subcommand("solve",
                                "find the value of one quantity at which a result reaches a "
                                "target, for a scenario or for each point of a study");
    const auto arguments = std::make_shared<SolveArguments>();
    arguments->parser = &parser;
    add_scenario_arguments(parser, arguments->scenario);
    add_interval_option(parser, arguments->scenario);
    arguments->scenario.own = own;
    add_question(parser, arguments->question);
    parser
        .add_option("--scale", arguments->scale,
                    "log or linear (default: log where a range above 0 spans a factor above 10)")
        ->check(CLI::IsMember({"log", "linear"}));
    parser
        .add_option("--jobs", arguments->jobs, "points run in parallel (default: number of cores)")
        ->check(CLI::Range(1, 1024));
    parser
        .add_option("--cache", arguments->cache,
                    "folder for finished points (default results/<scenario>/points)")
        ->check(names_something());
    parser
        .add_option("--out", arguments->out,
                    "folder for answers.csv and for the points, as results that plot can draw")
        ->check(names_something());
    parser.add_flag("--json", arguments->json, "print the answer as one JSON object");
    parser.add_flag("--quiet", arguments->quiet, "no progress line");
    return {&parser, [arguments] { return solve_and_tell(*arguments); }};
}

}  // namespace paceline
