// All-reduce through parameter servers: workers push their vectors, servers add them, and workers
// pull the sums. Timing plane only.
//
// The vector is cut into q chunks, one per server. A server answers once it has every worker's
// chunk. Messages are eager and all messages of a phase are in flight at once; they share the
// servers' links, which is the bottleneck of this method. Servers run on their own machines or on
// those of the first q workers, in which case a worker keeps the chunk it would send to itself.
//
//   n workers, S bytes, q <= n, q divides S
//   own machines      2 (L + t(n S/q))
//   on the workers    2 (L + t((n-1) S/q))        q = n: as much as a ring, in two latencies
//
// Limits: rounds are synchronous, and the addition takes no time. Source of the architecture: Li et
// al., OSDI 2014. The closed forms are derived in docs/models/collectives.md.
#pragma once

#include <optional>

#include "sim/collectives/rank.hpp"
#include "sim/engine/task.hpp"
#include "sim/engine/units.hpp"

namespace paceline {

/// Runs one worker's part. Server j is on node `first_server_node` + j, or on the node of worker j
/// if none is given. Worker j acts for server j. Requires servers >= 1; there are never more
/// servers than workers.
Task<> parameter_server_all_reduce(Rank self, Bytes size, int servers,
                                   std::optional<int> first_server_node = std::nullopt);

}  // namespace paceline
