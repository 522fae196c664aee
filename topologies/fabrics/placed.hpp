// Places the hosts of several jobs on one fabric.
//
// Host i of the resulting fabric is at place places[i] of the inner fabric. Several hosts may be at
// one place. They share its links like flows of one host, and are otherwise separate (lanes,
// the sender's overhead, counted traffic). Two hosts at one place cannot send to each other. Memory
// O(hosts); a route costs one more look-up at each end.
#pragma once

#include <vector>

#include "sim/network/fabric.hpp"

namespace paceline {

/// Requires that `places` are hosts of `inside`, and that those are single machines.
Fabric make_placed(std::vector<int> places, Fabric inside);

}  // namespace paceline
