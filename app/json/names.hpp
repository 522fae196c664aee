// Lists names in error messages: which names are known, and which one was probably meant.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/json/config_error.hpp"

namespace paceline {

/// Returns the known name at the smallest edit distance (insert, delete, replace, swap neighbors: 1
/// each) if that is at most a third of the longer name, rounded up. Otherwise returns an empty
/// string. Ties go to the first.
std::string_view nearest(std::string_view name, std::span<const std::string_view> known);

/// Returns `"nodse" is not a key here; did you mean "nodes"? Known: fabric, nodes`. `what` says
/// what the name was expected to be.
std::string unknown_name(std::string_view name, std::string_view what,
                         std::span<const std::string_view> known);

/// Returns the same as a fault, with the name that was probably meant.
Fault unknown(std::string_view name, std::string_view what,
              std::span<const std::string_view> known);

/// Returns the names of a table's entries.
template <class Table>
std::vector<std::string_view> names_of(const Table& table) {
    std::vector<std::string_view> names;
    for (const auto& entry : table) names.push_back(entry.name);
    return names;
}

}  // namespace paceline
