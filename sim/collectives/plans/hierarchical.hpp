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
//
// With levels above the machine (sim/engine/levels.hpp), phases 1 and 3 are repeated at each level,
// inner parts of the vector ever smaller, and phase 2 is among the groups of the last level:
//
//   2 sum over levels i of (g_i - 1) (L_i + S_i/g_i / B_i)  +  2 (p-1) (L + S_p/p / B)
//
// with S_1 = S, S_i+1 = S_i / g_i, if a level has its links to itself.
#pragma once

#include <memory>
#include <vector>

#include "sim/collectives/rank.hpp"
#include "sim/engine/task.hpp"
#include "sim/engine/units.hpp"

namespace paceline {

/// Members in nested groups.
struct NestedGroups {
    std::vector<int> sizes;  // members of a group of each level, which are groups of the one below
    std::vector<int> order;  // places, such that groups follow one another; empty: they do already

    /// Returns how many groups the last level has, of n members.
    [[nodiscard]] int groups(int n) const {
        for (const int size : sizes) n /= size;
        return n;
    }
};

/// Requires devices >= 1 and that it divides the number of members.
Task<> hierarchical_all_reduce(Rank self, Bytes size, int devices);

/// Requires that the sizes divide the number of members, one after the other.
Task<> hierarchical_all_reduce(Rank self, Bytes size, std::shared_ptr<const NestedGroups> groups);

}  // namespace paceline
