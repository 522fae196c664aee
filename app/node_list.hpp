// Nodes as a scenario names several of them: by a list [0, 3, 5], by a range {"from": 0, "to": 30,
// "step": 2} with both ends in it, or as "all", "even" or "odd" ones.
#pragma once

#include <vector>

#include "app/object_reader.hpp"

namespace paceline {

Keys node_range_keys();

/// Nodes of 0 .. nodes-1, in the order in which they are named, each once, one at least. Throws
/// ConfigError.
std::vector<int> read_nodes(const Place& place, int nodes);

}  // namespace paceline
