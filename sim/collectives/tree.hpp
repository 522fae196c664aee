// Broadcast and reduce along a binomial tree rooted at place 0. Timing plane only.
//
//   broadcast   in step i the places below 2^i, which have the vector, send it to the place 2^i on
//   reduce      the same backwards: the places 2^i .. 2^(i+1)-1 hand their sums down, largest i first
//
// n members, S bytes, m = ceil(log2 n), one-way latency L, t = S/B. A sender goes on when its
// message has drained, so in a broadcast the latencies of one place's messages overlap; in a reduce
// a place takes one message after the other:
//
//   broadcast   max((m-1)(L + t), m t + c L),  c: most ones in a binary number of [2^(m-1), n-1]
//   reduce      m (L + t)
//
// n = 2^m: both are m (L + t). Source: Thakur, Rabenseifner, Gropp, Int. J. High Perform. Comput.
// Appl. 19, 2005, section 3; the broadcast's latencies for other n: derived, docs/models.md.
#pragma once

#include "sim/collectives/rank.hpp"
#include "sim/engine/task.hpp"
#include "sim/engine/units.hpp"

namespace paceline {

/// One member's part. Returns when it has the vector and has passed it on.
Task<> binomial_broadcast(Rank self, Bytes size);

/// One member's part. Returns when it has handed its sum down, at place 0 when the sum is there.
Task<> binomial_reduce(Rank self, Bytes size);

/// An all-reduce: the reduce, then the broadcast.
Task<> tree_all_reduce(Rank self, Bytes size);

}  // namespace paceline
