// The dumbbell: two switches with half of the hosts each, and one cable between them that all the
// traffic from side to side has to share.
//
//      0 ----.                      .---- h
//      ..     left --bottleneck-- right   ..       h = hosts / 2, rounded down
//      h-1 --'                      '---- hosts-1
//
// Cables: 0 .. hosts-1 from host i to its switch; cable `hosts` from the left switch to the right
// one. Route: 2 links on a side, 3 across; there is one way only. Diameter: 3 links from two hosts
// on.
//
// Bisection, each way: min(B_bottleneck, h B_link), exactly: there is nothing to choose. Memory
// O(hosts); a route is O(1) arithmetic without tables.
#pragma once

#include "sim/network/fabric.hpp"

namespace paceline {

/// Requires hosts >= 1.
Fabric make_dumbbell(int hosts, const Link& link, const Link& bottleneck);

}  // namespace paceline
