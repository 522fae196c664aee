// Two-phase all-reduce of encoded vectors: chunks to their owners, then what the owners made of
// them to everybody. Timing plane only.
//
//   1. all-to-all in rounds: place j gets chunk j of every member             (n-1) (L + V/B)
//   2. the owner's work: it decodes, adds up and encodes again                W
//   3. ring all-gather of the chunks                                          (n-1) (L + V/B)
//
// V bytes per chunk if all are equal; else V_j is that of chunk j, both ways, and a phase lasts as
// long as its longest chunk. Each member sends as much as in a ring all-reduce, of encoded entries.
// Sources: Gan et al., "Bagua", VLDB 2021 (scatter-reduce of low precision); Tang et al., "1-bit
// Adam", 2021.
#pragma once

#include <functional>

#include "sim/collectives/all_gather.hpp"
#include "sim/collectives/rank.hpp"
#include "sim/engine/task.hpp"

namespace paceline {

/// `chunk` returns what the chunk of a place weighs; `own_work` is the work of this member on its
/// own.
Task<> two_phase(Rank self, BlockWeight chunk, std::function<Task<>()> own_work);

}  // namespace paceline
