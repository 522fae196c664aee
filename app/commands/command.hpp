// The subcommands of paceline, one file each: its command-line arguments, and what it does.
//
// A command adds its parser to the program's. If the user named the command, `run` is called after
// the whole command line has been parsed, and returns the exit code. main reports exceptions.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "app/commands/exit_codes.hpp"
#include "app/host/interruption.hpp"
#include "app/scenario/scenario.hpp"
#include "app/study/run_study.hpp"

namespace paceline {

struct Command {
    CLI::App* parser;
    std::function<int()> run;
};

/// A scenario as a command takes it from the command line.
struct ScenarioArguments {
    std::string file;
    std::vector<std::string> settings;
    std::vector<std::string> picks;
    bool strict = false;
    OwnParts own{};  // that the program brings

    /// Opens it. Throws ConfigError.
    [[nodiscard]] ScenarioText open() const;
};

/// Returns the shell command that has been parsed, with every option that was given.
std::string command_text(const CLI::App& parser);

/// Returns the options of the points that a question asks for: so many side by side (0: as many as
/// there are cores), until it is interrupted.
StudyOptions options_of_question(int jobs, Interruption& interruption);

/// Returns the exit code of an answer. Says what ended it instead; of a stop, `if_stopped`.
int exit_code_of_question(const Interruption& interruption, std::string_view if_stopped,
                          const std::function<int()>& answer);

/// Refuses an empty text, which would name the current folder or none.
CLI::Validator names_something();

void add_scenario_arguments(CLI::App& parser, ScenarioArguments& arguments);
/// Adds --interval, which is a setting. Requires that the scenario's arguments have been added.
void add_interval_option(CLI::App& parser, ScenarioArguments& arguments);

Command run_command(CLI::App& program, const OwnParts& own);
Command check_command(CLI::App& program, const OwnParts& own);
Command list_command(CLI::App& program);
Command explain_command(CLI::App& program, const OwnParts& own);
Command plot_command(CLI::App& program);
Command solve_command(CLI::App& program, const OwnParts& own);
Command calibrate_command(CLI::App& program, const OwnParts& own);
Command compare_command(CLI::App& program);
Command diagnose_command(CLI::App& program, const OwnParts& own);
Command explore_command(CLI::App& program);
Command completion_command(CLI::App& program);
Command man_command(CLI::App& program);

}  // namespace paceline
