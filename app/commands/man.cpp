// paceline man: the manual page, made from the parsers of all commands.
#include <cstdio>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "app/commands/command.hpp"
#include "app/host/console.hpp"
#include "app/host/version.hpp"

namespace paceline {

namespace {

// Returns a text as roff prints it as it is.
std::string plain(std::string_view text) {
    std::string safe = text.starts_with('.') || text.starts_with('\'') ? "\\&" : "";
    for (const char c : text) {
        if (c == '\\')
            safe += "\\e";
        else if (c == '-')
            safe += "\\-";
        else
            safe += c;
    }
    return safe;
}

std::string page(const CLI::App& program) {
    std::string text = fmt::format(
        ".TH PACELINE 1 \"\" \"paceline {}\"\n.SH NAME\npaceline \\- {}\n.SH SYNOPSIS\n"
        ".B paceline\nCOMMAND [OPTIONS]\n.SH COMMANDS\n",
        version, plain(program.get_description().substr(program.get_description().find(' ') + 1)));
    for (const CLI::App* command : program.get_subcommands([](const CLI::App*) { return true; })) {
        std::string arguments;
        std::string options;
        for (const CLI::Option* option : command->get_options()) {
            if (option->get_positional()) arguments += " " + option->get_name(true);
            options += fmt::format(
                ".TP\n.B {}\n{}\n",
                plain(option->get_positional() ? option->get_name(true)
                                               : fmt::format("{} {}", option->get_name(false, true),
                                                             option->get_type_name())),
                plain(option->get_description()));
        }
        text += fmt::format(".SS {}\n{}.\n{}", plain(command->get_name() + arguments),
                            plain(command->get_description()), options);
    }
    return text;
}

}  // namespace

Command man_command(CLI::App& program) {
    CLI::App& parser =
        *program.add_subcommand("man", "print the manual page, for man: paceline man | man -l -");
    return {&parser, [&program] {
                print(stdout, page(program));
                return done;
            }};
}

}  // namespace paceline
