// The hosts of several jobs on one fabric: which host stands at which place.
//
// Host i of the fabric made here is at place places[i] of the fabric inside. Several hosts may stand
// at one place: they share its links as flows of one host do, and are told apart in everything else
// (mailboxes, the sender's overhead, counted traffic). Two hosts of one place cannot send to one
// another. Memory O(hosts); a route costs one look-up more at each end.
#pragma once

#include <vector>

#include "sim/network/fabric.hpp"

namespace paceline {

/// Requires places of `inside`, whose hosts are single machines.
Fabric make_placed(std::vector<int> places, Fabric inside);

}  // namespace paceline
