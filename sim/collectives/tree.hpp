// Broadcast and reduce along a binomial tree rooted at place 0. Timing plane only.
//
//   broadcast   in step i the places p < 2^i, which have the vector, send it to place p + 2^i
//   reduce      the reverse: the places 2^i .. 2^(i+1)-1 send their sums down, largest i first
//
// There are n members, S bytes, m = ceil(log2 n), one-way latency L and t = S/B. A sender continues
// once its message has drained. So in a broadcast the latencies of one place's messages overlap,
// while in a reduce a place receives one message after the other:
//
//   broadcast   max((m-1)(L + t), m t + c L),  c: most ones in a binary number of [2^(m-1), n-1]
//   reduce      m (L + t)
//
// For n = 2^m, both are m (L + t). Source: Thakur, Rabenseifner, Gropp, Int. J. High Perform.
// Comput. Appl. 19, 2005, section 3. The broadcast's latencies for other n are derived in
// docs/models/collectives.md.
#pragma once

#include "sim/collectives/rank.hpp"
#include "sim/engine/task.hpp"
#include "sim/engine/units.hpp"

namespace paceline {

/// Runs one member's part. Returns once the member has the vector and has passed it on.
Task<> binomial_broadcast(Rank self, Bytes size);

/// The same tree, but a member sends to all its places at once, which share its link. A member with
/// c places below takes c t: n = 2^m takes m (m+1)/2 t + m L. Source: gloo/broadcast.cc, where
/// sends are posted together and awaited at the end.
Task<> broadcast_at_once(Rank self, Bytes size);

/// Runs one member's part. Returns once the member has passed its sum down or, at place 0, has the
/// sum.
Task<> binomial_reduce(Rank self, Bytes size);

/// All-reduce: the reduce, then the broadcast.
Task<> tree_all_reduce(Rank self, Bytes size);

}  // namespace paceline
