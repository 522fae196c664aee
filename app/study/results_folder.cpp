#include "app/study/results_folder.hpp"

#include <chrono>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/host/content_hash.hpp"
#include "app/host/files.hpp"
#include "app/host/output.hpp"
#include "app/json/json_file.hpp"

namespace paceline {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t beginning = std::size_t{64} << 10U;

// Returns the beginning of a file; nothing if it is not there or cannot be read.
std::optional<std::string> beginning_of(const fs::path& file) {
    try {
        return read_own_file(file, beginning);
    } catch (const UnusableFile&) {
        return std::nullopt;
    }
}

// Returns the scenario of manifest.json; nothing if there is none of paceline. A manifest has a
// line per key and names the scenario at its beginning, before the points, which may fill
// gigabytes.
std::optional<std::string> scenario_of_manifest(const fs::path& folder) {
    std::istringstream manifest(beginning_of(folder / "manifest.json").value_or(""));
    constexpr std::string_view key = "  \"scenario\": ";
    bool is_ours = false;
    for (std::string line; std::getline(manifest, line);) {
        is_ours = is_ours || line == "  \"program\": \"paceline\",";
        if (!is_ours || !line.starts_with(key)) continue;
        line.erase(0, key.size());
        if (line.ends_with(',')) line.pop_back();
        const Json scenario = Json::parse(line, nullptr, false);
        return scenario.is_string() ? std::optional(scenario.get<std::string>()) : std::nullopt;
    }
    return std::nullopt;
}

bool is_table_of_ours(const fs::path& file) {
    return beginning_of(file).value_or("").starts_with("point,");
}

bool is_regular(const fs::path& file) {
    std::error_code error;
    return fs::symlink_status(file, error).type() == fs::file_type::regular;
}

bool is_figure(const std::string& name) {
    return name.find('/') == std::string::npos &&
           (name.ends_with(".svg") || name.ends_with(".png") || name.ends_with(".pdf"));
}

}  // namespace

std::string what_else_is_in(const fs::path& folder, const std::string& scenario_file) {
    if (const auto scenario = scenario_of_manifest(folder)) {
        if (fs::path(*scenario).filename() == fs::path(scenario_file).filename()) return "";
        return fmt::format("holds results of another scenario, {}", *scenario);
    }
    if (is_table_of_ours(folder / "results.csv")) return "";
    for (const char* name : {"results.csv", "timeline.csv", "summary.csv", "comparisons.csv",
                             "links.csv", "table.txt", "manifest.json"}) {
        std::error_code error;
        if (fs::exists(fs::symlink_status(folder / name, error)))
            return fmt::format("has a {} that is not of paceline", name);
    }
    return "";
}

namespace {

fs::path prepared(fs::path folder) {
    prepare_folder(folder);
    return folder;
}

}  // namespace

OwnFolder::OwnFolder(fs::path path, std::string_view command)
    : path_(prepared(std::move(path))), lock_(path_, command) {
    if (lock_.warning().empty())
        remove_leftovers(path_, std::chrono::seconds(0));  // nobody else writes there
}

void OwnFolder::refuse_another(const std::string& scenario_file) const {
    if (const std::string what = what_else_is_in(path_, scenario_file); !what.empty())
        throw OutputError(
            fmt::format("{} {}; name another folder with --out, or replace them with --force",
                        path_.string(), what));
}

std::string hash_of_tables(const fs::path& folder) {
    std::string hashes;
    for (const char* name : {"results.csv", "timeline.csv", "links.csv", "answers.csv"})
        hashes += is_regular(folder / name) ? content_hash_of(folder / name) : "none";
    return hashes;
}

std::vector<std::string> remove_figures(const fs::path& folder) {
    std::vector<std::string> removed;
    std::istringstream list(beginning_of(folder / "figures.txt").value_or(""));
    std::error_code error;
    for (std::string name; std::getline(list, name);)
        if (is_figure(name) && is_regular(folder / name) && fs::remove(folder / name, error))
            removed.push_back(name);
    if (is_regular(folder / "figures.txt")) fs::remove(folder / "figures.txt", error);
    return removed;
}

}  // namespace paceline
