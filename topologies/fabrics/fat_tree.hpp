// The fat tree of arity k: three levels of identical switches with k ports each, with as many
// cables up as down on every level.
//
//      core       (k/2)^2 switches: core (a, c) is cabled to aggregation switch a of every pod
//      ------------------------------------------------------------------------------
//      pod 0 .. k-1:  k/2 aggregation switches  \/  each cabled to each edge switch of its pod
//                     k/2 edge switches         /\  with k/2 hosts each
//
// There are places for k^3/4 hosts. Host i takes place i, so pods fill one after another and the
// remaining places stay empty. All switches exist. With h = k/2, host i is on edge switch e = i /
// h, and e is in pod e / h. Cables, from the lower to the upper end:
//     i                                host i to its edge switch
//     hosts + e h + a                  edge switch e to aggregation switch a of its pod
//     hosts + k h^2 + (p h + a) h + c  aggregation switch a of pod p to core (a, c)
//
// Route: 2 links within an edge switch; 4 within a pod, through one of h aggregation switches; 6
// between pods, through one of h^2 cores. equal_cost.hpp draws which. Diameter: 6 links with hosts
// in two or more pods, 4 with one pod, 2 with one edge switch.
//
// Bisection of a full tree, each way, if pairs are spread evenly: k^3/8 min(B_link, B_uplink). With
// equal links, all hosts can send at full rate at once. Drawn pairs collide and reach less.
//
// Memory O(hosts + k^3); a route is O(1) arithmetic without tables. Source: Al-Fares, Loukissas,
// Vahdat, SIGCOMM 2008, section 3; hashed flows replace their two-level routing tables.
#pragma once

#include <cstdint>

#include "sim/network/fabric.hpp"

namespace paceline {

struct FatTree {
    int hosts = 1;
    int k = 2;      // ports per switch, even
    Link link{};    // between a host and its edge switch
    Link uplink{};  // between switches

    [[nodiscard]] constexpr std::int64_t places() const { return std::int64_t{k} * k * k / 4; }
    [[nodiscard]] constexpr std::int64_t cables() const { return hosts + 2 * places(); }
};

/// The largest arity; up to it, all cables have numbers.
inline constexpr int most_fat_tree_ports = 1024;

/// Requires an even k from 2 to most_fat_tree_ports, and 1 to k^3/4 hosts.
Fabric make_fat_tree(const FatTree& shape, std::uint64_t seed);

/// Returns the smallest arity with places for the hosts. Requires hosts >= 1, and that an arity up
/// to most_fat_tree_ports suffices.
int fat_tree_ports_for(int hosts);

}  // namespace paceline
