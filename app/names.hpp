// Lists of names in messages: what is known, and which known name was probably meant.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace paceline {

/// The known name at the smallest edit distance (insert, delete, replace, swap neighbors: 1 each),
/// if that is at most a third of the longer name, rounded up; else empty. Ties go to the first.
std::string_view nearest(std::string_view name, std::span<const std::string_view> known);

/// `"nodse" is not a key here; did you mean "nodes"? Known: fabric, nodes`. `what` says what the
/// name is not.
std::string unknown_name(std::string_view name, std::string_view what,
                         std::span<const std::string_view> known);

/// The names of a table's entries.
template <class Table>
std::vector<std::string_view> names_of(const Table& table) {
    std::vector<std::string_view> names;
    for (const auto& entry : table) names.push_back(entry.name);
    return names;
}

}  // namespace paceline
