// All-reduce of a dense vector: every member contributes one and ends with the sum of all.
//
// Timing plane only: messages carry sizes, and the data plane (algorithms/rounds/rounds.hpp) forms
// the sum once. There are n members, S bytes, one-way latency L and bandwidth B; chunk sizes are
// those of chunks.hpp. The closed forms are in docs/models/collectives.md, and
// analysis/forms/closed_forms.hpp computes them. On an idle star, simulated time equals them.
//
//   ring                2(n-1) steps of S/n to the next place: reduce-scatter, then all-gather.
//                       Any n. Least bytes, most latency.
//                       Patarasuk, Yuan, J. Parallel Distrib. Comput. 69, 2009.
//   recursive doubling  log2 n exchanges of all S with the place at distance 1, 2, 4, ...
//                       Least latency, most bytes.
//   halving-doubling    recursive halving (S/2, S/4, ...; distances n/2, n/4, ...), then the way
//                       back by doubling. Least bytes in log time. Rabenseifner, ICCS 2004.
// If n is not a power of two, the two recursive methods fold it onto one (chunks.hpp), with one
// message of S before and one after. All three: Thakur, Rabenseifner, Gropp, Int. J. High Perform.
// Comput. Appl. 19, 2005. Other methods, and the choice between all: all_reduce_plan.hpp.
#pragma once

#include "sim/collectives/in_rounds.hpp"
#include "sim/collectives/rank.hpp"
#include "sim/engine/task.hpp"
#include "sim/engine/units.hpp"

namespace paceline {

/// Returns what ring_all_reduce consists of.
[[nodiscard]] RingOfChunks ring_of_all_reduce(int n, Bytes size);

Task<> ring_all_reduce(Rank self, Bytes size);
Task<> recursive_doubling_all_reduce(Rank self, Bytes size);
Task<> halving_doubling_all_reduce(Rank self, Bytes size);

}  // namespace paceline
