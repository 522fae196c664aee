// The subcommands of paceline, one file each: what it takes on the command line, and what it does.
//
// A command adds its parser to the program's; `run` is called if the user named it, after all of
// the command line was understood, and gives the exit code. Exceptions are told by main.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace paceline {

inline constexpr int done = 0;
inline constexpr int point_failed = 1;  // or something that was asked for could not be done
inline constexpr int wrong_input = 2;   // the scenario or the command line

struct Command {
    CLI::App* parser;
    std::function<int()> run;
};

/// A scenario as a command takes it.
struct ScenarioArguments {
    std::string file;
    std::vector<std::string> settings;
};

void add_scenario_arguments(CLI::App& parser, ScenarioArguments& arguments);

Command run_command(CLI::App& program);
Command check_command(CLI::App& program);
Command list_command(CLI::App& program);
Command explain_command(CLI::App& program);
Command plot_command(CLI::App& program);
Command solve_command(CLI::App& program);

}  // namespace paceline
