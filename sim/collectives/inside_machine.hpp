// What the devices of one machine exchange with their first device, over the bus. Timing plane
// only.
//
// g members, S bytes, one-way latency L and t(S) = S/B of the bus between two devices:
//
//   gather      every other member sends its block to place 0, all at once      L + t((g-1) V)
//   scatter     place 0 sends every other member its block, all at once         L + t((g-1) V)
//   reduce      ring reduce-scatter, then the chunks to place 0                 g L + 2 t((g-1)/g
//               S)
//   broadcast   chunks from place 0, then a ring all-gather of them             g L + 2 t((g-1)/g
//               S)
//
// The last two move the least bytes over the first device's link that whole vectors allow, up to a
// factor of two: reduce-scatter and gather, scatter and all-gather (van de Geijn's forms; Thakur,
// Rabenseifner, Gropp, Int. J. High Perform. Comput. Appl. 19, 2005, sections 3 and 4).
#pragma once

#include "sim/collectives/all_gather.hpp"
#include "sim/collectives/rank.hpp"
#include "sim/engine/task.hpp"
#include "sim/engine/units.hpp"

namespace paceline {

/// `block` returns what the block of a place weighs.
Task<> gather_to_first(Rank self, BlockWeight block);
Task<> scatter_from_first(Rank self, BlockWeight block);
Task<> reduce_to_first(Rank self, Bytes size);
Task<> broadcast_from_first(Rank self, Bytes size);

}  // namespace paceline
