// All-reduce of sparse vectors by recursive doubling: messages grow as supports merge.
//
// In step i, the survivors of an aligned block of 2^i have merged the contributions of their
// places, and each block sends its union to the neighboring block. The caller gives the weight of a
// union of c contributions: a declared density law in timing-only runs, the measured union with
// real values. If n is not a power of two, it is folded (chunks.hpp): one message with a single
// contribution before, and one with all n after.
//
//   n a power of two, weight(c) alike for all unions of c:   sum over i of (L + weight(2^i)/B)
//   otherwise: docs/models/collectives.md.
//
// Worst case (disjoint supports of C bytes): (n-1) C/B in all, as much as an all-gather moves (Lin
// et al., ICLR 2018, use this for their scalability figure). The other sparse all-reduce, by
// all-gather, is in all_gather.hpp.
#pragma once

#include <functional>

#include "sim/collectives/chunks.hpp"
#include "sim/collectives/rank.hpp"
#include "sim/engine/task.hpp"
#include "sim/engine/units.hpp"

namespace paceline {

/// Which contributions a message merges: the `count` contributions of an aligned block of 2^step
/// survivors of the fold. A message before the fold carries one and has step -1. The message that
/// brings the result back carries all and has step = fold.steps.
struct Union {
    int block_first;  // survivor number; before the fold, the place that drops out
    int step;
    int count;
};
using UnionWeight = std::function<Bytes(const Union&)>;

/// `weight` owns what it needs, as a BlockWeight does (all_gather.hpp).
Task<> sparse_all_reduce(Rank self, const UnionWeight& weight);

}  // namespace paceline
