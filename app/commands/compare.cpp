// paceline compare: tells what moved between two results of a scenario, and by how much.
#include "app/questions/compare/compare.hpp"

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>

#include "app/commands/command.hpp"
#include "app/host/console.hpp"
#include "app/host/files.hpp"
#include "app/host/version.hpp"
#include "app/json/config_error.hpp"
#include "app/questions/compare/changelog.hpp"
#include "app/questions/compare/compare_text.hpp"
#include "models/data/files/data_error.hpp"

namespace paceline {

namespace {

namespace fs = std::filesystem;

struct CompareArguments {
    std::string before;
    std::string after;
    bool json = false;
};

std::string table_of(const fs::path& file) {
    try {
        const std::vector<unsigned char> bytes = read_bytes(file.string());
        return {bytes.begin(), bytes.end()};
    } catch (const DataError& error) {
        throw ConfigError("command line", "compare", error.what());
    }
}

std::optional<std::string> table_if_there(const fs::path& file) {
    std::error_code ignored;
    return fs::exists(file, ignored) ? std::optional(table_of(file)) : std::nullopt;
}

// Reads a folder of results, or its results.csv. What stands beside the file belongs to it if the
// file has that name.
Result read_result(const std::string& name) {
    std::error_code ignored;
    const bool is_folder = fs::is_directory(name, ignored);
    const fs::path file = is_folder ? fs::path(name) / "results.csv" : fs::path(name);
    if (!fs::exists(file, ignored))
        throw ConfigError(name, "",
                          is_folder ? "has no results.csv; name a folder that paceline run has "
                                      "written, or a results.csv"
                                    : "no such file or folder; name a folder that paceline run has "
                                      "written, or a results.csv");
    Result result{name, table_of(file)};
    if (file.filename() != "results.csv") return result;
    result.manifest = table_if_there(file.parent_path() / "manifest.json");
    result.timeline = table_if_there(file.parent_path() / "timeline.csv");
    result.links = table_if_there(file.parent_path() / "links.csv");
    return result;
}

int compare_results(const CompareArguments& arguments) {
    const ResultComparison found =
        compare(read_result(arguments.before), read_result(arguments.after));
    const std::string changelog = own_changelog();
    const ProgramHistory history{changelog, version};
    print(stdout,
          arguments.json ? comparison_json(found, history) : comparison_text(found, history));
    return found.same() ? done : results_differ;
}

}  // namespace

Command compare_command(CLI::App& program) {
    CLI::App& parser = *program.add_subcommand(
        "compare", "show what changed between two results of a scenario, and by how much");
    const auto arguments = std::make_shared<CompareArguments>();
    parser
        .add_option("OLD", arguments->before,
                    "a folder that paceline run has written, or its results.csv")
        ->required();
    parser.add_option("NEW", arguments->after, "likewise")->required();
    parser.add_flag("--json", arguments->json, "print all differences as one JSON object");
    return {&parser, [arguments] { return compare_results(*arguments); }};
}

}  // namespace paceline
