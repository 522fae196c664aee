#include "app/commands/program.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "app/commands/command.hpp"
#include "app/commands/console_log.hpp"
#include "app/host/commit.hpp"
#include "app/host/console.hpp"
#include "app/host/program_file.hpp"
#include "app/host/version.hpp"
#include "app/json/config_error.hpp"
#include "app/json/names.hpp"
#include "app/study/ranks/communicator.hpp"
#include "models/kernels/isa.hpp"

namespace paceline {

namespace {

std::string version_text() {
    std::string available;
    for (const Isa isa : available_isas())
        available += (available.empty() ? "" : ", ") + std::string(name_of(isa));
    const auto place = [](const ShippedFolder& folder) {
        const auto found = find_shipped(folder, program_file());
        return found ? found->string() : "none";
    };
    return fmt::format(
        "paceline {} (commit {})\ninstruction set: {} (of {})\nMPI: {}\nscripts of plot: {}\n"
        "page of explore: {}",
        version, commit(), name_of(chosen_isa()), available, mpi_there(), place(plot_scripts),
        place(explorer_page));
}

CLI::Validator finite() {
    return {[](const std::string& text) {
                double number = 0;
                const bool is_finite =
                    CLI::detail::lexical_cast(text, number) && std::isfinite(number);
                return is_finite ? std::string() : fmt::format("{} is not a number", text);
            },
            "", "finite"};
}

// Numbers of options are finite, whatever the option; a range alone would let NaN pass.
void refuse_what_is_not_finite(const Command& command) {
    for (CLI::Option* option : command.parser->get_options())
        if (option->get_type_name().starts_with(CLI::detail::type_name<double>()))
            option->check(finite());
}

struct NamedCommand {
    std::string_view name;
    Command (*make)(CLI::App& program, const OwnParts& own);
    bool tells_of_others = false;
};

// Of commands that read no scenario.
template <Command (*Make)(CLI::App& program)>
Command without_own(CLI::App& program, const OwnParts& /*own*/) {
    return Make(program);
}

constexpr std::array all_commands{
    NamedCommand{"run", &run_command},
    NamedCommand{"check", &check_command},
    NamedCommand{"list", &without_own<&list_command>},
    NamedCommand{"explain", &explain_command},
    NamedCommand{"plot", &without_own<&plot_command>},
    NamedCommand{"solve", &solve_command},
    NamedCommand{"calibrate", &calibrate_command},
    NamedCommand{"diagnose", &diagnose_command},
    NamedCommand{"compare", &without_own<&compare_command>},
    NamedCommand{"explore", &without_own<&explore_command>},
    NamedCommand{"completion", &without_own<&completion_command>, true},
    NamedCommand{"man", &without_own<&man_command>, true},
};

// Makes the parsers that a command line needs, by its first word: making all takes a tenth of the
// time of a start. Refuses an unknown command, of which the parser would say only that it did not
// expect it.
std::vector<Command> make_commands(CLI::App& program, std::string_view first, const OwnParts& own) {
    const auto* const named = std::ranges::find(all_commands, first, &NamedCommand::name);
    if (named == all_commands.end() && !first.empty() && !first.starts_with('-')) {
        std::vector<std::string_view> names;
        for (const NamedCommand& command : all_commands) names.push_back(command.name);
        throw ConfigError("command line", "", unknown(first, "a command", names));
    }
    const bool only_named = named != all_commands.end() && !named->tells_of_others;
    std::vector<Command> commands;
    for (const NamedCommand& command : all_commands)
        if (first != "--version" && (!only_named || &command == named))
            commands.push_back(command.make(program, own));
    std::ranges::for_each(commands, &refuse_what_is_not_finite);
    return commands;
}

int dispatch(int argc, const char* const* argv, const OwnParts& own) {
    CLI::App program{"paceline: how fast would this training algorithm train on that network?",
                     "paceline"};
    program.set_version_flag("--version", &version_text);
    program.require_subcommand(1);
    const std::vector<Command> commands = make_commands(program, argc > 1 ? argv[1] : "", own);
    try {
        program.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        std::ostringstream out;
        std::ostringstream err;
        const int code = program.exit(error, out, err);
        print(stdout, out.str());
        print(stderr, err.str());
        return code == 0 ? done : wrong_input;
    }
    for (const Command& command : commands)
        if (command.parser->parsed()) return command.run();
    return wrong_input;
}

}  // namespace

int run_program(int argc, const char* const* argv, const OwnParts& own) {
    prepare_streams();
    const int code = exit_code_of(ConsoleLog(), [&] {
        chosen_isa();
        return dispatch(argc, argv, own);
    });
    return code_after_printing(code);
}

}  // namespace paceline
