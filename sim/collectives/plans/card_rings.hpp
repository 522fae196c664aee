// Flat rings through all members, one for each network card of the machines. Timing plane only.
//
//   c cards per machine; the vector is cut into c parts, and ring i carries part i
//   All rings visit the machines in the same order. In a machine of g devices, ring i enters at the
//   first device of card i, a = i g/c, and goes down the devices: a, a-1, ..., 0, g-1, ..., a+1.
//
// Where a card serves two devices or more, ring i also leaves the machine through card i. Where
// each device has a card of its own, it leaves through the next one. Either way a card carries one
// ring into its machine and one out of it, both at the full rate of its link. Inside a machine all
// rings share the devices' lanes.
//
// Each ring is a collective of its own: its messages have their own stream, and no ring waits for
// another one. The members end when all rings have. With one card, or inside one machine, there is
// one ring in the order of the members. A machine with fewer devices than the others lets the rings
// enter at devices that are evenly spread.
//
// On n devices in full machines, an all-reduce takes
//   2 (n-1) (L + t(ceil(ceil(S/c)/n)))
// if a lane of the bus is at least c times as fast as a card: then all lanes together never slow a
// message between machines, and that step paces its ring. One ring takes the same with ceil(S/n).
//
// Source: NCCL (commit 5067397). Its search of rings begins each channel at another network card
// and at a device next to it, and requires that the channel comes back to the same card unless
// NCCL_CROSS_NIC allows another one (src/graph/search.cc, ncclTopoSearchRecNet and
// ncclTopoSearchCheckNet). Channel i of one machine is joined to channel i of the next
// (connectRings in src/graph/connect.cc), with buffers and connections of its own. NCCL lets each
// ring have two channels; they share the ring's part and its card, so they are one ring here. A
// device whose card is another one reaches the ring's card over NVLink in NCCL (PXN); messages here
// leave through the sender's card.
#pragma once

#include <functional>

#include "sim/collectives/rank.hpp"
#include "sim/engine/task.hpp"
#include "sim/engine/units.hpp"

namespace paceline {

/// Carries out a collective of a part of the vector, on one of the rings.
using RingOfPart = std::function<Task<>(Rank ring, Bytes part)>;

/// Requires cards >= 1, and a member of a whole group, not of a part.
Task<> on_rings_of_cards(Rank self, Bytes size, int cards, RingOfPart messages);

}  // namespace paceline
