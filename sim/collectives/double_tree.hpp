// Double binary tree all-reduce: two trees, each of which sums up and hands down half of the
// vector, in slices. Timing plane only.
//
//   tree A   in order: place p > 0 whose lowest set bit is b has the places p - b/2 and p + b/2
//            below it; odd places are leaves. Place 0 is the root, above the largest power of two
//            below n.
//   tree B   tree A of the places n-1-p if n is even, or p-1 mod n if it is odd: a place that has
//            others below it in A has none in B
//
// n members, S bytes, slices of time t, latency L. No member sends or receives more than two
// vectors, and an inner place with two below and one above receives 2 S, so
//
//   2 S/B  <=  T  (n >= 5),      T  ->  2 S/B + O(log n) (L + t)      as slices become small
//
// against 2 (n-1)/n S/B and up to 2 (n-1) L of a ring. A closed form is not known: flows of both
// trees share links max-min fairly.
//
// Sources: Sanders, Speck, Traeff, "Two-tree algorithms for full bandwidth broadcast, reduction and
// scan", Parallel Computing 35, 2009; the trees: NCCL, src/graph/trees.cc.
#pragma once

#include <array>
#include <vector>

#include "sim/collectives/pipelined.hpp"
#include "sim/collectives/rank.hpp"
#include "sim/collectives/slots.hpp"
#include "sim/engine/task.hpp"
#include "sim/engine/units.hpp"

namespace paceline {

/// A place's neighbors in a tree.
struct TreePlace {
    int above = -1;  // none: the root
    std::vector<int> below{};
};

/// Return a place of either tree. Require 0 <= place < n.
TreePlace place_in_tree_a(int place, int n);
TreePlace place_in_tree_b(int place, int n);

/// With several devices per machine, which are consecutive places, the trees join the first devices
/// of machines, and those behind a first device form a chain below it. Requires that the machines
/// are full.
Task<> double_tree_all_reduce(Rank self, Bytes size, Slices cut, int devices = 1);

/// What a half of the vector has before and after it, on one member: slices that are ready to be
/// added, and slices whose sum has come. Both may be null.
struct TreeEnds {
    Received* gathered = nullptr;
    Received* summed = nullptr;
};

/// The same with so many slices of each half and slots of each receiver. `ends` must outlive the
/// task.
Task<> double_tree_of_slices(Rank self, Bytes size, int slices, int slots,
                             std::array<TreeEnds, 2> ends);

}  // namespace paceline
