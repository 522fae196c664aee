// The torus: a grid of hosts, each cabled to the next one in every dimension, the last one to the
// first. Every host is its own router. With one dimension it is the ring.
//
//      0 -- 1 -- 2 -- (0)         dims {3, 2}: host = x + 3 y
//      |    |    |
//      3 -- 4 -- 5 -- (3)         a dimension of two hosts has one cable, one of one host none
//
// Host numbers count the first dimension fastest: x_0 + n_0 (x_1 + n_1 (x_2 + ..)). Cables stand
// dimension after dimension; a cable goes forth to the host whose coordinate is one more. With f
// the cables of the dimensions before and w the product of their extents:
//     n_d >= 3:  f + host                               one for each host
//     n_d = 2:   f + host / (2 w) * w + host % w        one for each host of coordinate 0
//
// Route: dimension by dimension, in order, the shorter way round; exactly half way round, the way
// that equal_cost.hpp draws, for each dimension apart. Its length is the sum over dimensions of the
// distances round; diameter: sum of floor(n_d / 2) links.
//
// Bisection, each way, across an even extent n_d with N hosts in all: 2 N / n_d links (two planes),
// N / n_d where n_d = 2. The least is across the longest.
//
// Memory O(hosts x dims); a route is arithmetic without tables, O(route + dims). A message crosses
// every router on its way at no cost but the links' latencies.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/network/fabric.hpp"

namespace paceline {

inline constexpr std::size_t most_torus_dims = 16;

/// Requires 1 to most_torus_dims extents of 1 or more, whose product is the number of hosts, an
/// int, and no more than most_cables cables.
Fabric make_torus(const std::vector<int>& dims, const Link& link, std::uint64_t seed);

}  // namespace paceline
