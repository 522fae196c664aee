// The mesh: every pair of hosts has a cable of its own, without a switch. A route is one link.
//
// Cable of hosts i < j: those of the hosts before i, then j:  i (2 n - i - 1) / 2 + (j - i - 1); it
// goes forth from i to j. n (n - 1) / 2 cables; bisection, each way, of an even n: n^2 / 4 links.
#pragma once

#include "sim/network/fabric.hpp"

namespace paceline {

/// Requires hosts >= 1, and no more than most_cables cables.
Fabric make_mesh(int hosts, const Link& link);

}  // namespace paceline
