// All-reduce through parameter servers: workers push their vectors, servers add them up and the
// workers pull the sums. Timing plane only.
//
// The vector is cut into q chunks, one per server. A server answers when it has every worker's
// chunk. Messages are eager and all of a phase run at once: they share the servers' links, which is
// what limits the method. Servers stand on machines of their own or on those of the first q workers
// (then a worker keeps what it would send to itself).
//
//   n workers, S bytes, q <= n, q divides S
//   machines of their own    2 (L + t(n S/q))
//   on the workers           2 (L + t((n-1) S/q))        q = n: as much as a ring, in two latencies
//
// Limits: one round is whole before the next begins (synchronous); the addition takes no time.
// Source: Li et al., OSDI 2014, for the architecture; closed forms derived, docs/models.md.
#pragma once

#include <optional>

#include "sim/collectives/rank.hpp"
#include "sim/engine/task.hpp"
#include "sim/engine/units.hpp"

namespace paceline {

/// One worker's part. Server j stands on node `first_server_node` + j, without one on that of
/// worker j; worker j speaks for it. Requires servers >= 1; there are no more
/// than workers in any case.
Task<> parameter_server_all_reduce(Rank self, Bytes size, int servers,
                                   std::optional<int> first_server_node = std::nullopt);

}  // namespace paceline
