// paceline list: lists what can be named in a scenario.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>

#include "app/commands/command.hpp"
#include "app/host/console.hpp"
#include "app/json/config_error.hpp"
#include "app/json/names.hpp"
#include "app/questions/list_text.hpp"

namespace paceline {

namespace {

int list(const std::string& what, bool json) {
    const auto known = list_names();
    if (!what.empty() && std::ranges::find(known, std::string_view(what)) == known.end())
        throw ConfigError("command line", "list", unknown(what, "a list", known));
    if (json && what != "algorithms")
        throw ConfigError("command line", "list", "--json is for the list \"algorithms\"");
    print(stdout, json ? algorithms_json() : list_text(what));
    return done;
}

}  // namespace

Command list_command(CLI::App& program) {
    CLI::App& parser = *program.add_subcommand("list", "list what a scenario can name");
    const auto what = std::make_shared<std::string>();
    parser.add_option(
        "WHAT", *what,
        "algorithms, fabrics, compressors, codecs, combinations, mixings, models, data, "
        "profiles, devices, links or collectives");
    const auto json = std::make_shared<bool>();
    parser.add_flag("--json", *json, "the algorithms as JSON: families, keys, what a failure does");
    return {&parser, [what, json] { return list(*what, *json); }};
}

}  // namespace paceline
