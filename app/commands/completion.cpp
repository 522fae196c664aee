// paceline completion: a script with which a shell completes the command line, made from the
// parsers of all commands.
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/commands/command.hpp"
#include "app/host/console.hpp"

namespace paceline {

namespace {

using Parsers = std::vector<const CLI::App*>;

// An option with a name, or what an argument without one may be.
struct Completed {
    std::string flag;  // "--set"; empty: an argument without a name
    std::string summary;
    bool takes_value = true;
    std::string words;  // one of which the value is; empty: anything, such as a file
};

std::string replaced(std::string text, std::string_view what, std::string_view by) {
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
        text.replace(at, what.size(), by);
    return text;
}

std::vector<Completed> completed(const CLI::App& parser) {
    std::vector<Completed> all;
    for (const CLI::Option* option : parser.get_options()) {
        Completed one{"", option->get_description(), option->get_items_expected_max() > 0, ""};
        if (!option->get_positional()) one.flag = "--" + option->get_lnames().front();
        const std::string type = option->get_type_name();  // such as TEXT:{sd,ci}
        if (const std::size_t open = type.find('{'); open != std::string::npos)
            one.words = replaced(type.substr(open + 1, type.find('}') - open - 1), ",", " ");
        all.push_back(std::move(one));
    }
    return all;
}

std::string bash_case(const std::string& command, const CLI::App& parser) {
    std::string choices;
    std::string flags;
    std::string words;  // of an argument without a name
    for (const Completed& one : completed(parser)) {
        if (one.flag.empty() && !one.words.empty()) words = one.words;
        if (one.flag.empty()) continue;
        flags += one.flag + " ";
        if (one.takes_value)
            choices += fmt::format("        {}:{}) words='{}' ;;\n", command, one.flag, one.words);
    }
    return choices + fmt::format("        {}:*) words='{}'; [[ $word == -* ]] && words='{}' ;;\n",
                                 command, words, flags);
}

std::string for_bash(const CLI::App& program, const Parsers& parsers) {
    std::string names;
    std::string cases;
    for (const CLI::App* parser : parsers) {
        names += parser->get_name() + " ";
        cases += bash_case(parser->get_name(), *parser);
    }
    for (const Completed& one : completed(program)) names += one.flag + " ";
    return fmt::format(R"(# paceline completion bash
_paceline() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}} words=
    case ${{COMP_WORDS[1]}}:$before in
{}    esac
    if ((COMP_CWORD == 1)); then words='{}'; fi
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}}
complete -o default -F _paceline paceline
)",
                       cases, names);
}

std::string in_quotes_of_zsh(const std::string& text) {
    std::string safe = replaced(replaced(text, "\\", "\\\\"), "'", "'\\''");
    for (const char* sign : {"[", "]", ":"}) safe = replaced(safe, sign, std::string("\\") + sign);
    return safe;
}

std::string for_zsh(const CLI::App& /*program*/, const Parsers& parsers) {
    std::string names;
    std::string cases;
    for (const CLI::App* parser : parsers) {
        names += fmt::format("        '{}:{}'\n", parser->get_name(),
                             in_quotes_of_zsh(parser->get_description()));
        std::string arguments = "_files";  // what those without a name may be
        cases += fmt::format("        {}) _arguments", parser->get_name());
        for (const Completed& one : completed(*parser)) {
            const std::string value = one.words.empty() ? "_files" : "(" + one.words + ")";
            if (one.flag.empty())
                arguments = value;
            else
                cases += fmt::format(" '*{}{}[{}]{}'", one.flag, one.takes_value ? "=" : "",
                                     in_quotes_of_zsh(one.summary),
                                     one.takes_value ? ": :" + value : "");
        }
        cases += fmt::format(" '*: :{}' ;;\n", arguments);
    }
    return fmt::format(R"(#compdef paceline
# paceline completion zsh
_paceline() {{
    local -a commands=(
{}    )
    if ((CURRENT == 2)); then
        _describe command commands
        return
    fi
    local command=$words[2]
    shift words
    ((CURRENT--))
    case $command in
{}    esac
}}
if [[ $funcstack[1] == _paceline ]]; then _paceline "$@"; else compdef _paceline paceline; fi
)",
                       names, cases);
}

std::string in_quotes_of_fish(const std::string& text) {
    return "'" + replaced(replaced(text, "\\", "\\\\"), "'", "\\'") + "'";
}

std::string for_fish(const CLI::App& program, const Parsers& parsers) {
    std::string lines = "# paceline completion fish\n";
    const auto add = [&lines](const std::string& condition, const Completed& one) {
        if (one.flag.empty() && one.words.empty()) return;  // files, as by default
        lines += fmt::format("complete -c paceline -n '{}'", condition);
        if (!one.flag.empty()) lines += " -l " + one.flag.substr(2);
        if (!one.flag.empty() && one.takes_value) lines += " -r";
        if (!one.words.empty()) lines += fmt::format(" -f -a '{}'", one.words);
        lines += " -d " + in_quotes_of_fish(one.summary) + "\n";
    };
    for (const Completed& one : completed(program)) add("__fish_use_subcommand", one);
    for (const CLI::App* parser : parsers) {
        add("__fish_use_subcommand", {"", parser->get_description(), true, parser->get_name()});
        for (const Completed& one : completed(*parser))
            add("__fish_seen_subcommand_from " + parser->get_name(), one);
    }
    return lines;
}

}  // namespace

Command completion_command(CLI::App& program) {
    CLI::App& parser = *program.add_subcommand("completion", "print a shell's completion script");
    const auto shell = std::make_shared<std::string>();
    parser.add_option("SHELL", *shell, "the shell to print it for")
        ->check(CLI::IsMember({"bash", "zsh", "fish"}))
        ->required();
    return {&parser, [&program, shell] {
                const CLI::App& all = program;
                const Parsers parsers =
                    all.get_subcommands([](const CLI::App* /*any*/) { return true; });
                const std::map<std::string, decltype(&for_bash)> makers{
                    {"bash", &for_bash}, {"zsh", &for_zsh}, {"fish", &for_fish}};
                print(stdout, makers.at(*shell)(all, parsers));
                return done;
            }};
}

}  // namespace paceline
