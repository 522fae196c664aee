// Leaf and spine: hosts on leaf switches, each leaf with one cable to each spine switch.
//
//       spine 0     spine 1            s spines
//        |   \     /    |
//        |     \ /      |              uplinks: one cable for each leaf and spine
//        |     / \      |
//       leaf 0      leaf 1             ceil(hosts / p) leaves
//       / .. \      / .. \             p hosts each, in order; the last leaf may have fewer
//      0     p-1   p    2p-1
//
// Cables: 0 .. hosts-1 from host i to its leaf i / p; then hosts + l s + j from leaf l to spine j.
// Route: up, down within a leaf (2 links); up, leaf to spine, spine to leaf, down between leaves (4
// links), over the spine that equal_cost.hpp draws for the pair. Diameter: 2 links with one leaf,
// else 4.
//
// Oversubscription: what the hosts of a full leaf can send, relative to what its uplinks carry,
//     r = p B_link / (s B_uplink)        B: payload bandwidth
// Bisection, each way, between the halves of an even number of full leaves:
//     min(hosts/2 B_link, leaves/2 s B_uplink)  =  hosts/2 B_link / max(1, r)
// if pairs are spread evenly over the spines. Drawn pairs collide on some and reach less.
//
// Memory O(hosts + leaves s); a route is O(1) arithmetic without tables.
#pragma once

#include <cstdint>

#include "sim/network/fabric.hpp"

namespace paceline {

struct LeafSpine {
    int hosts = 1;
    int hosts_per_leaf = 1;
    int spines = 1;
    Link link{};    // between a host and its leaf
    Link uplink{};  // between a leaf and a spine

    [[nodiscard]] constexpr int leaves() const { return (hosts - 1) / hosts_per_leaf + 1; }
    [[nodiscard]] constexpr std::int64_t cables() const {
        return hosts + std::int64_t{leaves()} * spines;
    }
};

/// Requires at least one host, one host per leaf and one spine, and at most most_cables cables.
Fabric make_leaf_spine(const LeafSpine& shape, std::uint64_t seed);

/// Returns `link` with the bandwidth at which a leaf is oversubscribed `ratio` times, to the
/// nearest bit per second: 0 if the ratio is too large, and at most 2^62 bit/s. Requires ratio > 0.
Link oversubscribed_uplink(const Link& link, int hosts_per_leaf, int spines, double ratio);

}  // namespace paceline
