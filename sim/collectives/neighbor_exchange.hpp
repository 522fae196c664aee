// Neighbor exchange: send one vector to each of some nodes and take one from each of some, all at
// the same time.
//
// Ends when all own messages have drained and all awaited ones are delivered. Messages are eager: a
// slow neighbor does not hold up what is sent to it. On an idle star with degree d both ways: L + d
// S/B (the node's link is the bottleneck). Timing plane only.
#pragma once

#include <vector>

#include "sim/engine/task.hpp"
#include "sim/engine/units.hpp"
#include "sim/network/network_part.hpp"

namespace paceline {

/// `network` must outlive the task.
Task<> neighbor_exchange(NetworkPart network, int self, std::vector<int> to, std::vector<int> from,
                         Stream stream, Bytes size);

}  // namespace paceline
