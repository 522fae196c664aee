// The fabric of an explicit list: hosts and switches, and which cable joins what.
//
// Vertices are numbered: hosts first, 0 .. hosts-1, then switches. Cable c has the links 2c, from
// its first end to its second, and 2c+1, back. Any two vertices may be joined, by several cables
// too, hosts with one another included. Switches forward, hosts do not: a cable between two hosts
// serves these two, and a host on two switches does not join them.
//
// Route: a shortest one in links, found step by step; where several cables lead closer, the one
// that equal_cost.hpp draws for the pair and step (as switches do, so ways are even at each step,
// not over all paths). Diameter and bisection are what the list makes them. A step compares
// (cables of the vertex) x (cables of the destination) distances.
//
// Memory O(hosts + cables + switches^2): two bytes for each ordered pair of switches, 32 MiB at the
// limit of 4096. Distances are found at construction by Dijkstra's algorithm (Boost.Graph), in
// O(switches x cables x log switches). Limits: every cable counts as one, whatever its bandwidth.
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

/// Two hosts without a way between them, if there are. O(hosts + cables) where one connected part
/// of the switches has a cable to every host, at worst O(hosts^2). Requires what make_graph does,
/// this apart.
std::optional<std::pair<int, int>> unconnected_hosts(const Graph& graph);

/// Requires a host at least, no more than most_graph_switches, cables between two different
/// vertices that exist, and a way between any two hosts.
Fabric make_graph(const Graph& graph, std::uint64_t seed);

}  // namespace paceline
