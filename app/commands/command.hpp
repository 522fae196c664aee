// The subcommands of paceline, one file each: its command-line arguments, and what it does.
//
// A command adds its parser to the program's. If the user named the command, `run` is called after
// the whole command line has been parsed, and returns the exit code. main reports exceptions.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace paceline {

inline constexpr int done = 0;
inline constexpr int point_failed = 1;  // or a request could not be fulfilled
inline constexpr int wrong_input = 2;   // error in the scenario or the command line

struct Command {
    CLI::App* parser;
    std::function<int()> run;
};

/// A scenario as a command takes it from the command line.
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
