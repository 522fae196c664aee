#include "app/questions/compare/compare.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "analysis/measures/csv.hpp"
#include "app/json/config_error.hpp"
#include "app/json/json_file.hpp"
#include "sim/engine/read_decimal.hpp"

namespace paceline {

namespace {

using Names = std::vector<std::string>;

struct ResultTable {
    Names header;
    std::size_t outcome = 0;  // its column, which follows those that identify a row
    std::vector<Names> rows{};
};

bool is_in(const Names& names, const std::string& name) {
    return std::ranges::find(names, name) != names.end();
}

ResultTable result_table(const Result& result) {
    const auto refuse = [&](std::string_view why) {
        throw ConfigError(result.name, "",
                          fmt::format("is not a results.csv of paceline run: {}", why));
    };
    std::vector<Names> rows = csv_rows(result.results);
    if (rows.empty() || rows.front().front() != "point")
        refuse("its first column is not \"point\"");
    ResultTable table{std::move(rows.front())};
    const auto outcome = std::ranges::find(table.header, "outcome");
    if (outcome == table.header.end()) refuse("it has no column \"outcome\"");
    if (std::set<std::string>(table.header.begin(), table.header.end()).size() !=
        table.header.size())
        refuse("it has a column twice");
    table.outcome = static_cast<std::size_t>(outcome - table.header.begin());
    for (std::size_t i = 1; i < rows.size(); ++i) {
        std::size_t point = 0;
        const std::string& number = rows[i].front();
        const char* const end = number.data() + number.size();
        if (const auto read = std::from_chars(number.data(), end, point);
            read.ec != std::errc() || read.ptr != end || rows[i].size() != table.header.size())
            refuse(fmt::format("row {} does not have a point and a field for each column", i));
        table.rows.push_back(std::move(rows[i]));
    }
    return table;
}

Names names_of_rows(const ResultTable& table) {
    return {table.header.begin() + 1,
            table.header.begin() + static_cast<std::ptrdiff_t>(table.outcome)};
}

Names names_of_values(const ResultTable& table) {
    return {table.header.begin() + static_cast<std::ptrdiff_t>(table.outcome), table.header.end()};
}

using ByName = std::map<Names, std::vector<std::size_t>>;  // the rows of each name, in their order

// One of the two tables, by the columns that both have.
class ComparedTable {
  public:
    // Requires that the table outlives this.
    ComparedTable(const ResultTable& table, const Names& names, const Names& values)
        : table_(table), names_(places_of(names)), values_(places_of(values)) {
        for (std::size_t i = 0; i < table.rows.size(); ++i) {
            std::vector<std::size_t>& same = rows_[name(i)];
            turns_.push_back(same.size());
            same.push_back(i);
        }
        for (const std::string& own : names_of_rows(table))
            if (!is_in(names, own)) left_out_.push_back(own);
    }

    [[nodiscard]] const ByName& rows() const { return rows_; }
    [[nodiscard]] std::size_t size() const { return table_.rows.size(); }
    // The columns in front of `outcome` that the other table lacks.
    [[nodiscard]] const Names& left_out() const { return left_out_; }

    [[nodiscard]] Names name(std::size_t row) const { return fields(row, names_); }
    [[nodiscard]] Names values(std::size_t row) const { return fields(row, values_); }
    [[nodiscard]] const std::string& point(std::size_t row) const {
        return table_.rows[row].front();
    }

    // Returns this table's row for a row of the other table, if there is one.
    [[nodiscard]] std::optional<std::size_t> partner_of(const ComparedTable& other,
                                                        std::size_t row) const {
        const auto same = rows_.find(other.name(row));
        const std::size_t turn = other.turns_[row];
        if (same == rows_.end() || turn >= same->second.size()) return std::nullopt;
        return same->second[turn];
    }

  private:
    using Places = std::vector<std::size_t>;

    [[nodiscard]] Places places_of(const Names& columns) const {
        Places places;
        for (const std::string& column : columns) {
            const auto found = std::ranges::find(table_.header, column);
            places.push_back(static_cast<std::size_t>(found - table_.header.begin()));
        }
        return places;
    }
    [[nodiscard]] Names fields(std::size_t row, const Places& places) const {
        Names fields;
        for (const std::size_t place : places) fields.push_back(table_.rows[row][place]);
        return fields;
    }

    const ResultTable& table_;
    Places names_;
    Places values_;
    ByName rows_{};
    Places turns_{};  // which of the rows of its name each row is
    Names left_out_{};
};

// Returns the columns that both tables have, and tells those that only one has.
Names common(const Names& before, const Names& after, ResultComparison& found) {
    Names both;
    for (const std::string& name : before)
        (is_in(after, name) ? both : found.columns_only_before).push_back(name);
    for (const std::string& name : after)
        if (!is_in(before, name)) found.columns_only_after.push_back(name);
    return both;
}

void check_told_apart(const ComparedTable& table, const Result& result, const Result& other) {
    if (table.left_out().empty()) return;
    for (const auto& [name, same] : table.rows())
        if (same.size() > 1)
            throw ConfigError(result.name, "",
                              fmt::format("has {} rows for each of {}, which differ in {}, and {} "
                                          "has no such column; compare results with the same axes",
                                          same.size(), other.name,
                                          fmt::join(table.left_out(), ", "), other.name));
}

// Says what distinguishes a row from the others of both tables.
class RowWords {
  public:
    RowWords(Names columns, const ByName& before, const ByName& after)
        : columns_(std::move(columns)), varies_(columns_.size(), false) {
        const Names* first = nullptr;
        for (const ByName* rows : {&before, &after})
            for (const auto& [name, same] : *rows) {
                if (first == nullptr) first = &name;
                for (std::size_t i = 0; i < name.size(); ++i)
                    if (name[i] != (*first)[i]) varies_[i] = true;
            }
    }

    [[nodiscard]] std::string of(const ComparedTable& table, std::size_t row) const {
        const Names name = table.name(row);
        Names words;
        for (std::size_t i = 0; i < name.size(); ++i)
            if (varies_[i])
                words.push_back(fmt::format("{} {}", columns_[i], name[i].empty() ? "-" : name[i]));
        return words.empty() ? "point " + table.point(row)
                             : fmt::format("{}", fmt::join(words, ", "));
    }

  private:
    Names columns_;
    std::vector<bool> varies_;
};

std::optional<double> finite_number(const std::string& text) {
    double number = 0;
    const auto [end, error] = read_decimal(text, number);
    const bool whole = error == std::errc() && end == text.data() + text.size();
    return whole && !text.empty() && std::isfinite(number) ? std::optional(number) : std::nullopt;
}

void measure(Move& move) {
    const std::optional<double> before = finite_number(move.before);
    const std::optional<double> after = finite_number(move.after);
    if (!before || !after) return;
    move.by = *after - *before;
    if (*before != 0) move.relative = *move.by / std::abs(*before);
}

// Tells which values of a pair of rows moved, and returns their points.
std::pair<std::size_t, std::size_t> compare_rows(const Names& before, const Names& after,
                                                 const Names& columns, const Move& of_row,
                                                 std::vector<Move>& moves) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
        if (before[i] == after[i]) continue;
        Move& move = moves.emplace_back(of_row);
        move.column = columns[i];
        move.before = before[i];
        move.after = after[i];
        measure(move);
    }
    return {of_row.old_point, of_row.new_point};
}

double size_of(const Move& move) {
    return move.relative ? std::abs(*move.relative) : std::numeric_limits<double>::infinity();
}

void sort_by_size(std::vector<Move>& moves) {
    std::vector<std::pair<double, std::size_t>> order;  // its negated size, and its place
    for (const Move& move : moves) order.emplace_back(-size_of(move), order.size());
    std::ranges::sort(order);
    std::vector<Move> sorted;
    for (const auto& [size, place] : order) sorted.push_back(std::move(moves[place]));
    moves = std::move(sorted);
}

std::optional<TableChange> table_change(const std::string& file,
                                        const std::optional<std::string>& before,
                                        const std::optional<std::string>& after) {
    if (!before || !after || *before == *after) return std::nullopt;
    const auto [ours, theirs] = std::ranges::mismatch(*before, *after);
    return TableChange{file, 1 + static_cast<std::size_t>(std::count(before->begin(), ours, '\n'))};
}

// --- manifests ---

struct ResultManifest {
    Origin origin;
    std::map<std::size_t, Json> scenarios{};  // of points, by their numbers
};

ResultManifest result_manifest(const Result& result) {
    ResultManifest manifest{{result.name, "", "", ""}};
    if (!result.manifest) return manifest;
    const Json json = Json::parse(*result.manifest, nullptr, false);
    if (!json.is_object() || json.value("program", Json()) != "paceline")
        throw ConfigError(result.name, "", "its manifest.json was not written by paceline run");
    const auto text = [&](const char* key) {
        const Json value = json.value(key, Json());
        return value.is_string() ? value.get<std::string>() : std::string();
    };
    manifest.origin = {result.name, text("scenario"), text("version"), text("build")};
    manifest.origin.complete = json.value("complete", Json(true)) != false;
    const Json points = json.value("points", Json::array());
    for (const Json& point : points)
        if (point.is_object() && point.value("point", Json()).is_number_unsigned())
            manifest.scenarios[point["point"].get<std::size_t>()] = point.value("scenario", Json());
    return manifest;
}

using Differing = std::map<std::pair<std::string, std::string>, std::size_t>;  // before, after

struct KeyDifferences {
    std::vector<std::string> order{};
    std::map<std::string, Differing> of{};

    void add(const std::string& path, std::string before, std::string after) {
        const auto [found, is_new] = of.try_emplace(path);
        if (is_new) order.push_back(path);
        ++found->second[{std::move(before), std::move(after)}];
    }
};

std::string below(const std::string& path, const std::string& key) {
    return path.empty() ? key : path + "." + key;
}

void find_differences(const Json& before, const Json& after, const std::string& path,
                      KeyDifferences& found) {
    if (before == after) return;
    if (before.is_object() && after.is_object()) {
        for (const auto& [key, value] : before.items()) {
            const std::string there = below(path, key);
            if (after.contains(key))
                find_differences(value, after[key], there, found);
            else
                found.add(there, value.dump(), "");
        }
        for (const auto& [key, value] : after.items())
            if (!before.contains(key)) found.add(below(path, key), "", value.dump());
    } else if (before.is_array() && after.is_array() && before.size() == after.size()) {
        for (std::size_t i = 0; i < before.size(); ++i)
            find_differences(before[i], after[i], below(path, std::to_string(i)), found);
    } else {
        found.add(path, before.dump(), after.dump());
    }
}

std::vector<KeyChange> key_changes(const ResultManifest& before, const ResultManifest& after,
                                   const std::set<std::pair<std::size_t, std::size_t>>& points) {
    KeyDifferences found;
    for (const auto& [ours, theirs] : points) {
        const auto a = before.scenarios.find(ours);
        const auto b = after.scenarios.find(theirs);
        if (a != before.scenarios.end() && b != after.scenarios.end())
            find_differences(a->second, b->second, "", found);
    }
    std::vector<KeyChange> changes;
    for (const std::string& path : found.order)
        for (const auto& [values, count] : found.of.at(path))
            changes.push_back({path, values.first, values.second, count});
    return changes;
}

}  // namespace

bool ResultComparison::same() const {
    return rows_only_before.empty() && rows_only_after.empty() && columns_only_before.empty() &&
           columns_only_after.empty() && moves.empty() && tables.empty();
}

ResultComparison compare(const Result& before, const Result& after) {
    const ResultTable old_table = result_table(before);
    const ResultTable new_table = result_table(after);
    const ResultManifest old_manifest = result_manifest(before);
    const ResultManifest new_manifest = result_manifest(after);
    ResultComparison found{old_manifest.origin, new_manifest.origin};

    const Names names = common(names_of_rows(old_table), names_of_rows(new_table), found);
    const Names values = common(names_of_values(old_table), names_of_values(new_table), found);
    found.columns = values.size();
    const ComparedTable ours(old_table, names, values);
    const ComparedTable theirs(new_table, names, values);
    check_told_apart(ours, before, after);
    check_told_apart(theirs, after, before);

    const RowWords words(names, ours.rows(), theirs.rows());
    std::set<std::pair<std::size_t, std::size_t>> points;
    for (std::size_t row = 0; row < ours.size(); ++row) {
        const std::optional<std::size_t> other = theirs.partner_of(ours, row);
        if (!other) {
            found.rows_only_before.push_back(words.of(ours, row));
            continue;
        }
        ++found.rows;
        const Move of_row{std::stoul(ours.point(row)), std::stoul(theirs.point(*other)),
                          words.of(ours, row)};
        points.insert(
            compare_rows(ours.values(row), theirs.values(*other), values, of_row, found.moves));
    }
    for (std::size_t row = 0; row < theirs.size(); ++row)
        if (!ours.partner_of(theirs, row)) found.rows_only_after.push_back(words.of(theirs, row));
    sort_by_size(found.moves);
    for (const auto& change : {table_change("timeline.csv", before.timeline, after.timeline),
                               table_change("links.csv", before.links, after.links)})
        if (change) found.tables.push_back(*change);
    found.keys = key_changes(old_manifest, new_manifest, points);
    return found;
}

}  // namespace paceline
