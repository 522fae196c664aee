// Collectives beside the all-reduce as NCCL carries them out (nccl.hpp), with what their messages
// cost. Timing plane only.
//
//   reduce-scatter, all-gather     half of a ring with slots, through each card of the machines
//                                  (pipelined.hpp, card_rings.hpp)
//   broadcast, reduce              a chain with slots in the order of the members
//
// A collective begins with what its protocol needs beyond the least start-up; that one is the
// library's (sim/collectives/library.hpp). All channels of a vector move side by side, so they are
// one ring whose slices are as many times as long.
#pragma once

#include "sim/collectives/plans/nccl.hpp"
#include "sim/collectives/rank.hpp"
#include "sim/engine/task.hpp"
#include "sim/engine/units.hpp"

namespace paceline {

/// `size` is that of the vector of all members. Requires another operation than the all-reduce.
Task<> nccl_collective(const Rank& self, const Nccl& library, Nccl::Operation operation,
                       Bytes size);

}  // namespace paceline
