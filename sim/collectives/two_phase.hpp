// Two-phase all-reduce of encoded vectors: chunks to their owners, then what the owners made of
// them to everybody. Timing plane only.
//
//   1. all-to-all: place j gets chunk j of every member    grouped            L + (n-1) V/B
//                                                          in rounds          (n-1) (L + V/B)
//   2. the owner's work: it decodes, adds up and encodes again                W
//   3. ring all-gather of the chunks                                          (n-1) (L + V/B)
//
// V bytes per chunk if all are equal; else V_j is that of chunk j, both ways, and a phase lasts as
// long as its longest chunk. Each member sends as much as in a ring all-reduce, of encoded entries.
//
// Sources: Gan et al., "Bagua", VLDB 2021 (scatter-reduce of low precision); Tang et al., "1-bit
// Adam", 2021. Both group the first phase: Bagua's released code (3e480d2,
// centralized_low_precision_synchronous.rs, lines 36-62) by the all-to-all of Aluminum (e9bfa94,
// include/aluminum/nccl_impl.hpp, lines 1222-1248), DeepSpeed (0.19.6, runtime/comm/nccl.py, line
// 100) by PyTorch's all_to_all_single. The last phase is the library's all-gather in both (nccl.py,
// lines 150-151), for which NCCL has rings.
#pragma once

#include <functional>

#include "sim/collectives/all_gather.hpp"
#include "sim/collectives/all_to_all.hpp"
#include "sim/collectives/rank.hpp"
#include "sim/engine/task.hpp"

namespace paceline {

/// `chunk` returns what the chunk of a place weighs; `own_work` is the work of this member on its
/// own.
Task<> two_phase(AllToAll how, Rank self, BlockWeight chunk, std::function<Task<>()> own_work);

}  // namespace paceline
