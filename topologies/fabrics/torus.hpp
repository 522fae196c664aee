// The torus: a grid of hosts in which each host is cabled to the next one in every dimension, and
// the last to the first. Every host is its own router. With one dimension it is the ring.
//
//      0 -- 1 -- 2 -- (0)         dims {3, 2}: host = x + 3 y
//      |    |    |
//      3 -- 4 -- 5 -- (3)         a dimension of two hosts has one cable, one of one host none
//
// Host numbers count the first dimension fastest: x_0 + n_0 (x_1 + n_1 (x_2 + ..)). Cables are
// numbered dimension by dimension; a cable leads to the host whose coordinate is one higher. Let f
// be the number of cables, and w the product of the extents, of the preceding dimensions:
//     n_d >= 3:  f + host                               one for each host
//     n_d = 2:   f + host / (2 w) * w + host % w        one for each host of coordinate 0
//
// Route: dimension by dimension, in order, the shorter way around. At exactly half way around,
// equal_cost.hpp draws the direction, separately for each dimension. The length of a route is the
// sum over dimensions of the distances around; diameter: sum of floor(n_d / 2) links.
//
// Bisection, each way, across an even extent n_d with N hosts in all: 2 N / n_d links (two planes),
// or N / n_d if n_d = 2. It is smallest across the longest dimension.
//
// Memory O(hosts x dims); a route is arithmetic without tables, O(route + dims). Routers cost a
// message nothing but the links' latencies.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/network/fabric.hpp"

namespace paceline {

inline constexpr std::size_t most_torus_dims = 16;

/// Requires 1 to most_torus_dims extents of 1 or more. Their product is the number of hosts and
/// must fit an int. Requires at most most_cables cables.
Fabric make_torus(const std::vector<int>& dims, const Link& link, std::uint64_t seed);

}  // namespace paceline
