// Regions: the hosts of a region are on one switch, and a pipe leads from each region to each other
// one. All messages from one region to another share its pipe.
//
//      0 --.                          .-- 3        a pipe for each ordered pair of regions, with
//      1 -- east ==pipe east->west==> west -- 4    a bandwidth and a latency of its own: what is
//      2 --'    <==pipe west->east==  '-- ..       measured between two regions
//
// Hosts fill the regions in order. Cables: 0 .. hosts-1 from host i to its region; then one for
// each pair of regions i < j, from i to j, in the order of
//     hosts + i (2 r - i - 1) / 2 + (j - i - 1)      r regions
// The pipe from i to j is its link forth, that from j to i its link back.
//
// Route: 2 links within a region, 3 between two: the host's own, the pipe, the receiver's own.
// There is only one path; no region lies on the way between two others.
//
// Bisection, each way, between two regions: min(pipe, what the fewer hosts send). Memory O(hosts +
// r^2); a route is O(1) arithmetic and a look-up of two regions.
#pragma once

#include <string>
#include <vector>

#include "sim/network/fabric.hpp"

namespace paceline {

struct Region {
    std::string name;
    int hosts = 1;
    Link up;  // of each host
    Link down;
};

struct Regions {
    std::vector<Region> regions;
    std::vector<std::vector<Link>> pipes;  // [from][to]; those from a region to itself are unused

    [[nodiscard]] int hosts() const;
};

inline constexpr int most_regions = 1024;

/// Requires from 1 to most_regions regions with a host or more each, and a pipe for each ordered
/// pair.
Fabric make_regions(const Regions& shape);

}  // namespace paceline
