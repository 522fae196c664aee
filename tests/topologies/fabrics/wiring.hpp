// The cables of a fabric, listed independently of the product's arithmetic: loops number the
// vertices (hosts first, then switches) and list cables in the order that the headers state. Cable
// c has the links 2c, from its first end, and 2c+1, back.
#pragma once

#include <utility>
#include <vector>

#include "sim/network/fabric.hpp"
#include "topologies/fabrics/fat_tree.hpp"
#include "topologies/fabrics/graph.hpp"
#include "topologies/fabrics/leaf_spine.hpp"

namespace paceline {

struct Wiring {
    int hosts = 0;
    int vertices = 0;
    std::vector<std::pair<int, int>> cables;
    bool hosts_forward = false;

    [[nodiscard]] std::pair<int, int> ends(LinkId link) const;

    /// Returns the number of links on a shortest path from a vertex to every other one, by
    /// breadth-first search; -1 if there is none.
    [[nodiscard]] std::vector<int> distances(int from) const;
    /// Returns the longest distance between any two hosts.
    [[nodiscard]] int diameter() const;
};

Wiring wiring_of_leaf_spine(const LeafSpine& shape);
Wiring wiring_of_fat_tree(const FatTree& shape);
Wiring wiring_of_torus(const std::vector<int>& dims);
Wiring wiring_of_dumbbell(int hosts);
Wiring wiring_of_graph(const Graph& graph);
/// Requires regions of these numbers of hosts.
Wiring wiring_of_regions(const std::vector<int>& hosts);

/// Returns the links that find_route gives, whatever the route held before.
Route route(const Fabric& fabric, int from, int to);

/// Whether counts are consistent with equal shares, by Pearson's statistic. For n choices its mean
/// is n - 1 and its variance 2 (n - 1); six standard deviations are allowed.
bool is_even(const std::vector<int>& counts);

}  // namespace paceline
