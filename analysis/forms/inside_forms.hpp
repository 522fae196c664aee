// Closed forms of what the devices of a machine exchange inside it, and of the network as those of
// them see it who exchange with other machines.
//
// g devices on a bus with latency l and t'(x); S bytes:
//
//   to the first device, or back   (g-1)(l + t'(S/g)) + l + t'((g-1) S/g)
//   islands by leaders             the same, once (algorithms/runtime/island.hpp)
//   islands by shards              an all-gather, (g-1)(l + t'(S/g))
//
// A lane between islands has the slower of a bus and a card, of which each of the lanes that share
// it has its part.
#pragma once

#include "analysis/forms/idle_network.hpp"

namespace paceline {

/// Returns the time of a dense vector from the devices of a machine of g to the first, or back.
Duration inside_machine_time(int g, Bytes size, const IdleStar& bus);
/// Returns the network as the first devices of machines see it, while no others use it.
IdleNetwork between_leaders(const IdleNetwork& network);

// These require that workers are islands.

/// Returns the network as the devices of a lane see it, while all lanes carry as much.
IdleNetwork lane_between_islands(const IdleNetwork& network);
/// Returns the largest part of so many bytes that a lane carries.
Bytes longest_part(Bytes size, const IdleNetwork& network);
/// Returns the time of handing on inside what has come by the lanes.
Duration inside_island_time(Bytes size, const IdleNetwork& network);

}  // namespace paceline
