#include "app/commands/program.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <span>
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
                return is_finite ? std::string() : fmt::format("{} is no finite number", text);
            },
            "", "finite"};
}

// Numbers of options are finite, whatever the option; a range alone would let NaN pass.
void refuse_what_is_not_finite(const Command& command) {
    for (CLI::Option* option : command.parser->get_options())
        if (option->get_type_name().starts_with(CLI::detail::type_name<double>()))
            option->check(finite());
}

// The parser would say only that there is something it did not expect.
void refuse_unknown_command(std::string_view first, std::span<const Command> commands) {
    if (first.empty() || first.starts_with('-')) return;
    std::vector<std::string_view> names;
    for (const Command& command : commands) names.push_back(command.parser->get_name());
    if (std::ranges::find(names, first) == names.end())
        throw ConfigError("command line", "", unknown(first, "a command", names));
}

int dispatch(int argc, const char* const* argv) {
    CLI::App program{"paceline: how fast would this training algorithm train on that network?",
                     "paceline"};
    program.set_version_flag("--version", &version_text);
    program.require_subcommand(1);
    const std::vector<Command> commands{
        run_command(program),     check_command(program),   list_command(program),
        explain_command(program), plot_command(program),    solve_command(program),
        compare_command(program), explore_command(program), completion_command(program),
        man_command(program),
    };
    std::ranges::for_each(commands, &refuse_what_is_not_finite);
    if (argc > 1) refuse_unknown_command(argv[1], commands);
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

int run_program(int argc, const char* const* argv) {
    prepare_streams();
    const int code = exit_code_of(ConsoleLog(), [&] {
        chosen_isa();
        return dispatch(argc, argv);
    });
    return code_after_printing(code);
}

}  // namespace paceline
