// An exchange with servers: workers push shards of a vector, servers work on them, workers pull the
// answers. Timing plane only.
//
// There are q servers, one for each shard. A server answers once it has every worker's part of its
// shard and has done its work W. Messages are eager, and all messages of a phase are in flight at
// once; they share the servers' links, which is the bottleneck of this method. Servers run on
// machines of their own or on those of the first q workers, in which case a worker keeps the shard
// that it would send to itself.
//
//   n workers, U bytes up and D bytes down per shard
//   own machines      L + t(n U) + W + L + t(n D)
//   on the workers    L + t((n-1) U) + W + L + t((n-1) D)
//
// Limits: rounds are synchronous. Source of the architecture: Li et al., OSDI 2014; of servers that
// decode and encode: Jiang et al., "BytePS", OSDI 2020. The closed forms are derived in
// docs/models/collectives.md.
#pragma once

#include <functional>
#include <optional>

#include "sim/collectives/rank.hpp"
#include "sim/engine/task.hpp"
#include "sim/engine/units.hpp"

namespace paceline {

/// Server j is on node `first_node` + j, or on the node of worker j if none is given.
struct ServerShape {
    int servers = 1;
    std::optional<int> first_node{};
};

using ShardWeight = std::function<Bytes(int shard)>;
/// The work of a server between pushes and answers; null: none.
using ShardWork = std::function<Task<>(int shard)>;

/// Runs one worker's part. Worker j acts for server j. Requires one server or more; there are never
/// more servers than workers.
Task<> server_exchange(Rank self, ServerShape shape, ShardWeight up, ShardWeight down,
                       ShardWork work);

}  // namespace paceline
