// paceline list: lists what can be named in a scenario.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/commands/command.hpp"
#include "app/host/console.hpp"
#include "app/json/config_error.hpp"
#include "app/json/names.hpp"
#include "app/questions/list_json.hpp"
#include "app/questions/list_text.hpp"

namespace paceline {

namespace {

int list(const std::string& what, bool json) {
    const auto known = list_names();
    if (!what.empty() && std::ranges::find(known, std::string_view(what)) == known.end())
        throw ConfigError("command line", "list", unknown(what, "a list", known));
    print(stdout, json ? list_json(what) : list_text(what));
    return done;
}

}  // namespace

Command list_command(CLI::App& program) {
    CLI::App& parser = *program.add_subcommand("list", "list the names that a scenario can use");
    const auto what = std::make_shared<std::string>();
    parser.add_option(
        "WHAT", *what,
        fmt::format("one of {}; default: all of them", fmt::join(list_names(), ", ")));
    const auto json = std::make_shared<bool>();
    parser.add_flag("--json", *json, "as JSON, with the keys of each name");
    return {&parser, [what, json] { return list(*what, *json); }};
}

}  // namespace paceline
