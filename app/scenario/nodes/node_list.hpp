// A set of nodes in a scenario: a list [0, 3, 5], a range {"from": 0, "to": 30, "step": 2} that
// includes both ends, or one of "all", "even" and "odd".
//
// In a list of objects that each apply to some nodes, an object may give "share" in place of
// "nodes": that share of all nodes, drawn at random by the scenario's seed. Objects of one list
// never share a drawn node, and drawn nodes are none that the list names. With n nodes and shares
// s_1, s_2, ... in the order of the list, the first k shares together have
//
//   round((s_1 + ... + s_k) n)  nodes
//
// so a single share s has round(s n), and shares that add up to 1 have all nodes. Nodes are drawn
// from one random order of all nodes for each key of the cluster, so an object that is added at the
// end changes none before it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/json/object_reader.hpp"

namespace paceline {

Keys node_range_keys();

/// Returns one or more distinct nodes of 0 .. nodes-1, in the order in which they are named. Throws
/// ConfigError.
std::vector<int> read_nodes(const Place& place, int nodes);

/// The nodes to draw from, and the seed.
struct NodeDraw {
    int nodes = 1;
    std::uint64_t seed = 1;
};

/// Nodes that a share has drawn, as reports list them.
struct DrawnNodes {
    std::string path;        // of the object, such as "cluster.access[0]"
    double share = 0;        // as stated
    int of = 0;              // all nodes
    std::vector<int> nodes;  // in increasing order
};

/// The nodes of each object of a list, and what was drawn for them.
struct NodesOfObjects {
    std::vector<std::optional<std::vector<int>>> nodes;  // empty: the object names none
    std::vector<DrawnNodes> drawn;
};

/// Reads "nodes" or "share" of each object. `stream` names the random stream. Throws ConfigError,
/// also if an object has both or there are too few nodes.
NodesOfObjects read_nodes_of(std::span<const Place> objects, NodeDraw draw,
                             std::string_view stream);

}  // namespace paceline
