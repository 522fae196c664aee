// Which all-reduce a job uses: one method by name, with its parameters, or one chosen by size.
//
//   ring, recursive doubling, halving-doubling    all_reduce.hpp
//   tree                                          reduce to place 0, then broadcast (tree.hpp)
//   parameter server                              parameter_server.hpp
//   hierarchical                                  hierarchical.hpp
//   pipelined ring                                pipelined.hpp
//   double tree                                   double_tree.hpp
//   rings of either kind, one for each card       card_rings.hpp
//   automatic                                     recursive doubling up to 2,048 bytes, above that
//                                                 halving-doubling: MPICH's defaults (cvars.txt)
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "sim/collectives/pipelined.hpp"
#include "sim/collectives/rank.hpp"
#include "sim/engine/task.hpp"
#include "sim/engine/units.hpp"

namespace paceline {

enum class AllReduce : std::uint8_t {
    ring,
    recursive_doubling,
    halving_doubling,
    tree,
    parameter_server,
    hierarchical,
    pipelined_ring,
    double_tree,
    automatic,
};

struct AllReducePlan {
    // NOLINTNEXTLINE(google-explicit-constructor): a plan of a method alone is that method
    constexpr AllReducePlan(AllReduce only = AllReduce::ring) : method(only) {}

    AllReduce method;
    int servers = 1;                       // for parameter_server
    std::optional<int> first_server_node;  // the first of consecutive nodes; none: on the workers
    int devices = 1;                       // for hierarchical, or several cards: per machine
    Slices slices{};                       // for pipelined_ring and double_tree
    int cards = 1;                         // for the rings: one through each card of a machine
};

/// The largest vector that `automatic` reduces by recursive doubling.
constexpr Bytes most_bytes_doubled{2048};

/// Returns the plan used for a vector of this size; its method is never `automatic`.
AllReducePlan plan_for(AllReducePlan plan, Bytes size);

/// Returns a literal, such as "ring all-reduce".
std::string_view name_of(AllReducePlan plan, Bytes size);

Task<> all_reduce(AllReducePlan plan, Rank self, Bytes size);

}  // namespace paceline
