// Hierarchical all-reduce: inside each machine, then between machines, then inside again. Timing
// plane only.
//
//   g devices per machine, p machines; place = machine g + device
//   1. reduce-scatter around the ring of the machine's devices: device i has the machine's chunk i
//   2. ring all-reduce of chunk i among the devices i of all machines: g concurrent rings, which
//      share the machines' network links
//   3. all-gather around the ring of the machine's devices
//
//   2 (g-1) (L_bus + S/g / B_bus)  +  2 (p-1) (L_net + S/p / B_net)       g p dividing S
//
// A machine sends 2 (p-1)/p S to the network, whatever g is. Source: the three phases of Goyal et
// al., "Accurate, Large Minibatch SGD", 2017, section 4. The two phases inside a machine are a
// reduce-scatter and an all-gather, as in the hierarchical modes of Horovod and NCCL.
#pragma once

#include "sim/collectives/rank.hpp"
#include "sim/engine/task.hpp"
#include "sim/engine/units.hpp"

namespace paceline {

/// Requires devices >= 1 and that it divides the number of members.
Task<> hierarchical_all_reduce(Rank self, Bytes size, int devices);

}  // namespace paceline
