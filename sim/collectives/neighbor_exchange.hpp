// Neighbor exchange: send one vector to each node of a set and receive one from each node of
// another, all concurrently.
//
// The exchange ends when all own messages have drained and all awaited messages are delivered.
// Messages are eager, so a slow neighbor does not hold up what is sent to it. On an idle star with
// degree d both ways it takes L + d S/B, because the node's link is the bottleneck. Timing plane
// only.
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
