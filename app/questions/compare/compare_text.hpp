// Formats the result of `paceline compare`, for people and for programs.
#pragma once

#include <string>
#include <string_view>

#include "app/questions/compare/compare.hpp"

namespace paceline {

/// A changelog, and the version of the program that it belongs to.
struct ProgramHistory {
    std::string_view changelog;
    std::string_view version;
};

/// Returns what moved, the largest changes first, what only one of the results has, the keys that
/// differ, and what the changelog says where the versions differ.
std::string comparison_text(const ResultComparison& found, const ProgramHistory& history);

/// Returns one JSON object:
///   "old", "new"   name, scenario, version, build, complete
///   "same"         whether there is no difference
///   "rows", "columns"   that both have
///   "rows_only_old", "rows_only_new", "columns_only_old", "columns_only_new"   names
///   "moved"        row, old_point, new_point, column, old, new; change and relative (null: not
///                  known)
///   "tables"       file, line: other tables that differ, and from which line on
///   "keys"         path, old and new (null: the key is not there), points
///   "changelog"    version, results: of the versions between; of two builds of the program's own
///                  version, what is unreleased
std::string comparison_json(const ResultComparison& found, const ProgramHistory& history);

}  // namespace paceline
