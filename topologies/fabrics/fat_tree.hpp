// The fat tree of arity k: three levels of equal switches with k ports each, as many cables up as
// down on every level.
//
//      core       (k/2)^2 switches: core (a, c) is cabled to aggregation switch a of every pod
//      ------------------------------------------------------------------------------
//      pod 0 .. k-1:  k/2 aggregation switches  \/  each cabled to each edge switch of its pod
//                     k/2 edge switches         /\  with k/2 hosts each
//
// Places for k^3/4 hosts; host i takes place i, so pods fill one after another and the rest of the
// places stays empty. Switches are all there. With h = k/2: host i hangs on edge switch e = i / h,
// and e is of pod e / h. Cables, from the lower to the upper end:
//     i                                host i to its edge switch
//     hosts + e h + a                  edge switch e to aggregation switch a of its pod
//     hosts + k h^2 + (p h + a) h + c  aggregation switch a of pod p to core (a, c)
//
// Route: 2 links within an edge switch; 4 within a pod, by one of h aggregation switches; 6 between
// pods, by one of h^2 cores; equal_cost.hpp draws which. Diameter: 6 links with hosts in two pods
// or more, 4 with one pod, 2 with one edge switch.
//
// Bisection of a full tree, each way, if pairs are spread evenly: k^3/8 min(B_link, B_uplink); with
// equal links every host sends at full rate at once. Drawn pairs collide and reach less.
//
// Memory O(hosts + k^3); a route is O(1) arithmetic without tables. Source: Al-Fares, Loukissas,
// Vahdat, SIGCOMM 2008, section 3 (their two-level routing tables are replaced by hashed flows).
#pragma once

#include <cstdint>

#include "sim/network/fabric.hpp"

namespace paceline {

struct FatTree {
    int hosts = 1;
    int k = 2;      // ports of a switch, even
    Link link{};    // between a host and its edge switch
    Link uplink{};  // between switches

    [[nodiscard]] constexpr std::int64_t places() const { return std::int64_t{k} * k * k / 4; }
    [[nodiscard]] constexpr std::int64_t cables() const { return hosts + 2 * places(); }
};

/// At this arity all cables have numbers.
inline constexpr int most_fat_tree_ports = 1024;

/// Requires an even k from 2 to most_fat_tree_ports, and from 1 host to k^3/4.
Fabric make_fat_tree(const FatTree& shape, std::uint64_t seed);

/// The smallest arity with places for the hosts. Requires hosts >= 1, and that there is one up to
/// most_fat_tree_ports.
int fat_tree_ports_for(int hosts);

}  // namespace paceline
