// Reduce-scatter: every member contributes a vector and ends with the sum of one chunk. Timing
// plane only.
//
//   ring   n-1 steps; chunk c starts at place c+1 and is complete when it reaches place c.
//          (n-1) (L + t(ceil(S/n)))
//
// The ring's second half, the all-gather of unequal chunks, is also here; together they form the
// ring all-reduce. Chunks are cut as in chunks.hpp. Source: see all_reduce.hpp.
#pragma once

#include "sim/collectives/rank.hpp"
#include "sim/engine/task.hpp"
#include "sim/engine/units.hpp"

namespace paceline {

/// Place i ends with chunk i of `size`.
Task<> ring_reduce_scatter(Rank self, Bytes size);

/// Place i begins with chunk i of `size`, and ends with all of them.
Task<> ring_all_gather_chunks(Rank self, Bytes size);

}  // namespace paceline
