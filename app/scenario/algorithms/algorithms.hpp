// The table of algorithms by name: the values that a scenario's "algorithm" can take.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "app/scenario/algorithms/algorithm_entry.hpp"

namespace paceline {

std::span<const AlgorithmFamily> algorithm_families();

/// Returns the algorithms of all families.
std::span<const AlgorithmEntry> algorithm_table();

/// Returns the row of an algorithm. Requires one of the table.
const AlgorithmEntry& algorithm_entry(std::string_view name);

/// Returns the keys that an algorithm's object can have.
Keys algorithm_keys(const AlgorithmEntry& entry);

/// Returns the algorithm's own "optimizer", if it has one.
std::optional<Place> algorithm_optimizer(const Place& algorithm);

/// Throws ConfigError.
AlgorithmChoice read_algorithm(const Place& place, const AlgorithmInput& in);

}  // namespace paceline
