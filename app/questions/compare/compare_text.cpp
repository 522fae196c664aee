#include "app/questions/compare/compare_text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "app/json/json_file.hpp"
#include "app/questions/compare/changelog.hpp"

namespace paceline {

namespace {

constexpr std::size_t told = 20;  // lines of a list

std::string or_dash(const std::string& text) {
    return text.empty() ? "-" : text;
}

// Numbers are rounded for people; --json has them in full.
std::string told_value(const std::string& text) {
    const Json json = Json::parse(text, nullptr, false);
    return json.is_number_float() ? fmt::format("{:.7g}", json.get<double>()) : or_dash(text);
}

std::string change_of(const Move& move) {
    return move.by ? fmt::format("{:+.4g}", *move.by) : "-";
}

std::string relative_of(const Move& move) {
    return move.relative ? fmt::format("{:+.4g} %", *move.relative * 100) : "-";
}

std::string origin_text(std::string_view title, const Origin& origin) {
    std::string text = fmt::format("{}  {}", title, origin.name);
    if (origin.version.empty()) return text + "  (no manifest.json: version not known)\n";
    text += fmt::format("  (paceline {}, {}", origin.version, origin.scenario);
    return text + (origin.complete ? ")\n" : ", not complete)\n");
}

std::string list_text(const std::string& title, const std::vector<std::string>& lines) {
    if (lines.empty()) return "";
    std::string text = fmt::format("\n{}: {}\n", title, lines.size());
    for (std::size_t i = 0; i < std::min(told, lines.size()); ++i)
        text += fmt::format("  {}\n", lines[i]);
    if (lines.size() > told) text += fmt::format("  ({} more with --json)\n", lines.size() - told);
    return text;
}

// A table whose last column is flush left and whose others are flush right.
using ComparedCells = std::vector<std::vector<std::string>>;

std::string cells_text(const ComparedCells& rows) {
    std::vector<std::size_t> widths(rows.front().size(), 0);
    for (const auto& row : rows)
        for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    std::string text;
    for (const auto& row : rows) {
        for (std::size_t i = 0; i + 1 < row.size(); ++i)
            text += fmt::format("{:>{}}  ", row[i], widths[i]);
        text += row.back() + "\n";
    }
    return text;
}

std::string columns_text(const ResultComparison& found) {
    std::vector<std::string> order;
    std::map<std::string, std::pair<std::size_t, const Move*>> columns;  // rows, the largest
    for (const Move& move : found.moves) {
        const auto [column, is_new] = columns.try_emplace(move.column, 0, &move);
        ++column->second.first;
        if (is_new) order.push_back(move.column);
    }
    ComparedCells cells{{"rows", "largest change", "relative", "column"}};
    for (const std::string& name : order) {
        const auto& [count, largest] = columns.at(name);
        cells.push_back({std::to_string(count), change_of(*largest), relative_of(*largest), name});
    }
    return cells_text(cells);
}

std::string moves_text(const ResultComparison& found) {
    ComparedCells cells{{"old", "new", "change", "relative", "column, row"}};
    for (std::size_t i = 0; i < std::min(told, found.moves.size()); ++i) {
        const Move& move = found.moves[i];
        cells.push_back({told_value(move.before), told_value(move.after), change_of(move),
                         relative_of(move), fmt::format("{}, {}", move.column, move.row)});
    }
    std::string text = cells_text(cells);
    if (found.moves.size() > told)
        text += fmt::format("({} more with --json)\n", found.moves.size() - told);
    return text;
}

std::string keys_text(const ResultComparison& found) {
    std::vector<std::string> lines;
    for (const KeyChange& key : found.keys)
        lines.push_back(
            fmt::format("{}: {} -> {}{}", key.path, key.before.empty() ? "not there" : key.before,
                        key.after.empty() ? "not there" : key.after,
                        key.points == 1 ? "" : fmt::format(" ({} points)", key.points)));
    return list_text("Keys of the scenarios that differ, old -> new", lines);
}

// The older and the newer one of two versions.
std::pair<std::string_view, std::string_view> in_order(const ResultComparison& found) {
    std::pair<std::string_view, std::string_view> versions{found.before.version,
                                                           found.after.version};
    if (is_before(versions.second, versions.first)) std::swap(versions.first, versions.second);
    return versions;
}

bool versions_differ(const ResultComparison& found) {
    return !found.before.version.empty() && !found.after.version.empty() &&
           found.before.version != found.after.version;
}

// Whether two builds of one version made the results.
bool builds_differ(const ResultComparison& found) {
    return !found.before.version.empty() && found.before.version == found.after.version &&
           found.before.build != found.after.build;
}

// What moved between two versions, or what may have moved between two builds of the program's own.
std::vector<ResultsOfVersion> sections(const ResultComparison& found,
                                       const ProgramHistory& history) {
    if (versions_differ(found)) {
        const auto [older, newer] = in_order(found);
        return results_between(history.changelog, older, newer, history.version);
    }
    if (!builds_differ(found) || found.before.version != history.version) return {};
    std::vector<ResultsOfVersion> all = results_of_versions(history.changelog);
    std::erase_if(all, [](const auto& section) { return section.version != unreleased; });
    return all;
}

std::string versions_text(const ResultComparison& found, const ProgramHistory& history) {
    const auto [older, newer] = in_order(found);
    std::string text = fmt::format(
        "\nEntries of the changelog under \"Results\", after {} up to {}", older, newer);
    if (is_before(found.after.version, found.before.version)) text += " (OLD is the newer one)";
    text += ":\n";
    for (const ResultsOfVersion& section : sections(found, history))
        text += fmt::format("\n{}\n\n{}\n", section.version,
                            section.text.empty() ? "(nothing)" : section.text);
    if (is_before(history.version, newer))
        text += fmt::format(
            "\nThis program is paceline {}, so it does not know later changes; see CHANGELOG.md of "
            "{}, or compare with that version.\n",
            history.version, newer);
    return text;
}

std::string builds_text(const ResultComparison& found, const ProgramHistory& history) {
    std::string text = fmt::format(
        "\nBoth were written by paceline {}, but by different builds. changes/*.results.md and "
        "CHANGELOG.md in their source trees list what changed.\n",
        found.before.version);
    for (const ResultsOfVersion& section : sections(found, history))
        text += fmt::format("This program knows of these:\n\n{}\n\n{}\n", section.version,
                            section.text);
    return text;
}

// Why numbers moved, as far as manifests and the changelog say.
std::string why_text(const ResultComparison& found, const ProgramHistory& history) {
    if (found.same()) return "";
    if (versions_differ(found)) return versions_text(found, history);
    if (found.before.version.empty() || found.after.version.empty())
        return "\nWithout both manifests, it is not known whether scenarios and versions differ.\n";
    return builds_differ(found) ? builds_text(found, history) : "";
}

Json origin_json(const Origin& origin) {
    const auto known = [](const std::string& text) { return text.empty() ? Json() : Json(text); };
    return {{"name", origin.name},
            {"scenario", known(origin.scenario)},
            {"version", known(origin.version)},
            {"build", known(origin.build)},
            {"complete", origin.complete}};
}

Json known_json(const std::optional<double>& value) {
    return value && std::isfinite(*value) ? Json(*value) : Json();
}

Json value_json(const std::string& text) {
    const Json json = Json::parse(text, nullptr, false);
    if (text.empty()) return {};
    return json.is_number() ? json : Json(text);
}

Json key_json(const std::string& text) {
    return text.empty() ? Json() : Json::parse(text);
}

}  // namespace

std::string comparison_text(const ResultComparison& found, const ProgramHistory& history) {
    std::string text = origin_text("OLD", found.before) + origin_text("NEW", found.after) + "\n";
    if (found.same()) {
        text += fmt::format("The same: {} rows of {} columns.\n", found.rows, found.columns);
        return text + keys_text(found);
    }
    std::set<std::string> moved;
    for (const Move& move : found.moves) moved.insert(move.column);
    text += fmt::format("{} of {} values changed, in {} of {} columns.\n", found.moves.size(),
                        found.rows * found.columns, moved.size(), found.columns);
    if (!found.moves.empty()) text += "\n" + columns_text(found) + "\n" + moves_text(found);
    text += list_text("Rows only in OLD", found.rows_only_before);
    text += list_text("Rows only in NEW", found.rows_only_after);
    text += list_text("Columns only in OLD", found.columns_only_before);
    text += list_text("Columns only in NEW", found.columns_only_after);
    for (const TableChange& table : found.tables)
        text += fmt::format("\n{} differs, starting at line {}.\n", table.file, table.line);
    return text + keys_text(found) + why_text(found, history);
}

std::string comparison_json(const ResultComparison& found, const ProgramHistory& history) {
    Json json{{"old", origin_json(found.before)},
              {"new", origin_json(found.after)},
              {"same", found.same()},
              {"rows", found.rows},
              {"columns", found.columns},
              {"rows_only_old", found.rows_only_before},
              {"rows_only_new", found.rows_only_after},
              {"columns_only_old", found.columns_only_before},
              {"columns_only_new", found.columns_only_after},
              {"moved", Json::array()},
              {"tables", Json::array()},
              {"keys", Json::array()},
              {"changelog", Json::array()}};
    for (const Move& move : found.moves)
        json["moved"].push_back({{"row", move.row},
                                 {"old_point", move.old_point},
                                 {"new_point", move.new_point},
                                 {"column", move.column},
                                 {"old", value_json(move.before)},
                                 {"new", value_json(move.after)},
                                 {"change", known_json(move.by)},
                                 {"relative", known_json(move.relative)}});
    for (const TableChange& table : found.tables)
        json["tables"].push_back({{"file", table.file}, {"line", table.line}});
    for (const KeyChange& key : found.keys)
        json["keys"].push_back({{"path", key.path},
                                {"old", key_json(key.before)},
                                {"new", key_json(key.after)},
                                {"points", key.points}});
    for (const ResultsOfVersion& section : sections(found, history))
        json["changelog"].push_back({{"version", section.version}, {"results", section.text}});
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace paceline
