// What shells and man are told of the command line, against what --help tells of it. Bash, which
// the tests need anyway, completes lines with its script; tools/use_packages.sh asks fish and zsh.
#include <cstdlib>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/wait.h>

#include "app/commands/command.hpp"
#include "tests/app/host/temporary_folder.hpp"

namespace paceline::completion_test {
namespace {

// Returns what a script of bash prints; "$paceline" is the program.
std::string said(const std::string& script) {
    const TemporaryFolder folder;
    const std::string file = folder.write("script.sh", script);
    const std::string out = (folder.path() / "out").string();
    const std::string command =
        fmt::format("cd '{}' && paceline='{}' bash -e '{}' >'{}' </dev/null",
                    folder.path().string(), PACELINE_BINARY, file, out);
    REQUIRE(std::system(command.c_str()) == 0);  // NOLINT(cert-env33-c)
    return content(out);
}

std::set<std::string> found(const std::string& text, const char* pattern) {
    const std::regex regex(pattern);
    std::set<std::string> all;
    for (auto at = std::sregex_iterator(text.begin(), text.end(), regex);
         at != std::sregex_iterator(); ++at)
        all.insert((*at)[1]);
    return all;
}

// Returns the options of each command, by --help.
std::map<std::string, std::set<std::string>> helped() {
    std::map<std::string, std::set<std::string>> options;
    const std::string help = said("$paceline --help");
    for (const std::string& command :
         found(help.substr(help.find("Subcommands:")), R"(\n  ([a-z]+) )"))
        options[command] =
            found(said("$paceline " + command + " --help"), R"(\n  (?:-\w,)?(--[\w-]+))");
    return options;
}

// Returns what bash offers for the last of these words of a command line.
std::set<std::string> bash_offers(const std::string& words) {
    return found(said(fmt::format("eval \"$($paceline completion bash)\"\n"
                                  "COMP_WORDS=({})\nCOMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))\n"
                                  "_paceline\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"\n",
                                  words)),
                 R"(([^\n]+)\n)");
}

TEST_CASE("completion: bash offers every command, and the options of each that --help tells") {
    const auto options = helped();
    REQUIRE(options.size() > 9);
    std::set<std::string> commands{"--help", "--version"};
    for (const auto& [command, flags] : options) {
        CAPTURE(command);
        commands.insert(command);
        REQUIRE(flags.contains("--help"));
        CHECK(bash_offers(fmt::format("paceline {} --", command)) == flags);
    }
    CHECK(bash_offers("paceline ''") == commands);
}

TEST_CASE("completion: bash offers the words of a value, and leaves files to its default") {
    using Words = std::set<std::string>;
    CHECK(bash_offers("paceline plot results --band ''") == Words{"sd", "ci", "minmax", "none"});
    CHECK(bash_offers("paceline plot --scale li") == Words{"linear"});
    CHECK(bash_offers("paceline completion ''") == Words{"bash", "zsh", "fish"});
    CHECK(bash_offers("paceline run --out ''").empty());
    CHECK(bash_offers("paceline run scenarios/").empty());
    CHECK(bash_offers("paceline nothing --").empty());
}

TEST_CASE("completion: zsh, fish and man are told the same options of each command") {
    const std::string zsh = said("$paceline completion zsh");
    const std::string fish = said("$paceline completion fish");
    const std::string man = said("$paceline man");
    for (const auto& [command, flags] : helped()) {
        CAPTURE(command);
        const std::size_t arguments = zsh.find("        " + command + ") _arguments");
        REQUIRE(arguments != std::string::npos);
        CHECK(found(zsh.substr(arguments, zsh.find('\n', arguments) - arguments),
                    R"('\*(--[\w-]+))") == flags);
        std::set<std::string> in_fish;
        for (const std::string& name :
             found(fish,
                   fmt::format(R"(__fish_seen_subcommand_from {}' -l ([\w-]+))", command).c_str()))
            in_fish.insert("--" + name);
        CHECK(in_fish == flags);
        const std::size_t section = man.find(".SS " + command);
        REQUIRE(section != std::string::npos);
        std::string part = man.substr(section, man.find("\n.SS ", section) - section);
        part = std::regex_replace(part, std::regex(R"(\\-)"), "-");
        CHECK(found(part, R"(\n\.B (?:-\w,)?(--[\w-]+))") == flags);
    }
}

}  // namespace
}  // namespace paceline::completion_test
