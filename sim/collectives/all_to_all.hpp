// All-to-all: every member has one block for each other member. Timing plane only.
//
//   in rounds   n-1 rounds; in round r each member sends to the place r after it and receives from
//               the place r before it, so no two messages share a member's link.
//                                                                              (n-1) (L + V/B)
//
// V is the number of bytes per block if all are equal. Otherwise V_p is that of a block for place
// p. A round then lasts as long as its longest block, if all members begin it together. Source: the
// pairwise exchange of MPI libraries (Thakur, Rabenseifner, Gropp, Int. J. High Perform. Comput.
// Appl. 19, 2005, section 3). With staging (staging.hpp), a member copies its blocks for all n, and
// what it has received from all n.
#pragma once

#include "sim/collectives/all_gather.hpp"
#include "sim/collectives/rank.hpp"
#include "sim/engine/task.hpp"
#include "sim/engine/units.hpp"

namespace paceline {

Task<> all_to_all(Rank self, Bytes block);
/// The block for a place weighs block(place).
Task<> all_to_all(Rank self, const BlockWeight& block);

}  // namespace paceline
