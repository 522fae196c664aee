// All-to-all: every member has a block for every other one. Timing plane only.
//
//   in rounds   n-1 of them; in round r each sends to the place r on and takes from the place r
//               before, so that no two messages share a member's link.      (n-1) (L + V/B)
//
// V bytes per block. Source: the pairwise exchange of MPI libraries (Thakur, Rabenseifner, Gropp,
// Int. J. High Perform. Comput. Appl. 19, 2005, section 3).
#pragma once

#include "sim/collectives/rank.hpp"
#include "sim/engine/task.hpp"
#include "sim/engine/units.hpp"

namespace paceline {

Task<> all_to_all(Rank self, Bytes block);

}  // namespace paceline
