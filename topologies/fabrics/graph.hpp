// A fabric given as an explicit list: hosts, switches, and which cable joins what.
//
// Vertices are numbered: hosts first, 0 .. hosts-1, then switches. Cable c has the links 2c, from
// its first end to its second, and 2c+1, back. Any two vertices may be joined, even by several
// cables; two hosts may be joined as well. Switches forward, hosts do not: a cable between two
// hosts serves only these two, and a host on two switches does not connect them.
//
// Route: a path with the fewest links, found step by step. Where several cables lead closer,
// equal_cost.hpp draws one for the pair and step. As on real switches, the choice is even at each
// step, not over all paths. Diameter and bisection depend on the list. A step compares (cables of
// the vertex) x (cables of the destination) distances.
//
// Memory O(hosts + cables + switches^2): two bytes for each ordered pair of switches, 32 MiB at the
// limit of 4096. Construction computes the distances by Dijkstra's algorithm (Boost.Graph), in
// O(switches x cables x log switches). Limits: every cable counts as one link, whatever its
// bandwidth.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/network/fabric.hpp"

namespace paceline {

struct Graph {
    struct Cable {
        int first;  // vertices
        int second;
        Link link;
    };

    int hosts = 1;
    int switches = 0;
    std::vector<Cable> cables;
    std::vector<std::string> switch_names{};  // for reports; empty: numbers
};

inline constexpr int most_graph_switches = 4096;

/// Returns two hosts without a path between them, if there are any. O(hosts + cables) if one
/// connected part of the switches has a cable to every host, O(hosts^2) at worst. Requires what
/// make_graph requires, except that hosts are connected.
std::optional<std::pair<int, int>> unconnected_hosts(const Graph& graph);

/// Requires at least one host, at most most_graph_switches switches, cables between two different
/// existing vertices, and a path between any two hosts.
Fabric make_graph(const Graph& graph, std::uint64_t seed);

}  // namespace paceline
