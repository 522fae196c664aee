// A set of nodes in a scenario: a list [0, 3, 5], a range {"from": 0, "to": 30, "step": 2} that
// includes both ends, or one of "all", "even" and "odd".
#pragma once

#include <vector>

#include "app/json/object_reader.hpp"

namespace paceline {

Keys node_range_keys();

/// Returns one or more distinct nodes of 0 .. nodes-1, in the order in which they are named. Throws
/// ConfigError.
std::vector<int> read_nodes(const Place& place, int nodes);

}  // namespace paceline
