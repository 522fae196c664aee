// The dumbbell: two switches with half of the hosts each, joined by one cable that all traffic
// between the two sides shares.
//
//      0 ----.                      .---- h
//      ..     left --bottleneck-- right   ..       h = hosts / 2, rounded down
//      h-1 --'                      '---- hosts-1
//
// Cables: 0 .. hosts-1 from host i to its switch; cable `hosts` from the left switch to the right
// one. Route: 2 links on one side, 3 across; there is only one path. Diameter: 3 links for two
// hosts or more.
//
// Bisection, each way: exactly min(B_bottleneck, h B_link), because there is only one path. Memory
// O(hosts); a route is O(1) arithmetic without tables.
#pragma once

#include "sim/network/fabric.hpp"

namespace paceline {

/// Requires hosts >= 1.
Fabric make_dumbbell(int hosts, const Link& link, const Link& bottleneck);

}  // namespace paceline
