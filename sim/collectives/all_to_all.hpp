// All-to-all: every member has one block for each other member. Timing plane only.
//
//   grouped     each member sends all n-1 blocks at once, beginning with that for the next place,
//               and receives as many; messages share the links of their members.
//                                                                              L + (n-1) V/B
//   in rounds   n-1 rounds; in round r each member sends to the place r after it and receives from
//               the place r before it, so no two messages share a member's link.
//                                                                              (n-1) (L + V/B)
//
// V is the number of bytes per block if all are equal. Otherwise V_p is that of a block for place
// p. If all members begin together, a round lasts as long as its longest block, and a group as long
// as the n-1 longest blocks. With staging (staging.hpp), a member copies its blocks for all n, and
// what it has received from all n.
//
// Sources: grouped: NCCL 2.30.7, whose ncclAlltoAll is n sends and n receives of one group
// (src/enqueue.cc, lines 3070-3082); a channel has up to 8 peers in flight, and channels are so
// many that all peers fit (src/include/device.h line 391, src/graph/paths.cc lines 993-1001). Gloo
// also posts all messages before it waits for any (gloo/alltoall.cc). In rounds: the pairwise
// exchange of MPI libraries (Thakur, Rabenseifner, Gropp, Int. J. High Perform. Comput. Appl. 19,
// 2005, section 3).
//
// Limits of grouped: NCCL's other order of peers (quadratic steps between groups of ranks) is not
// modeled, nor that it takes more than 8 peers per channel in turn.
#pragma once

#include <cstdint>

#include "sim/collectives/all_gather.hpp"
#include "sim/collectives/rank.hpp"
#include "sim/engine/task.hpp"
#include "sim/engine/units.hpp"

namespace paceline {

enum class AllToAll : std::uint8_t { grouped, rounds };

Task<> all_to_all(AllToAll how, Rank self, Bytes block);
/// The block for a place weighs block(place).
Task<> all_to_all(AllToAll how, Rank self, const BlockWeight& block);

}  // namespace paceline
