// Which all-reduce a job uses: a method by name, with what it needs to know, or one by size.
//
//   ring, recursive doubling, halving-doubling    all_reduce.hpp
//   tree                                          reduce to place 0, then broadcast (tree.hpp)
//   parameter server                              parameter_server.hpp
//   hierarchical                                  hierarchical.hpp
//   automatic                                     recursive doubling up to 2,048 bytes, above that
//                                                 halving-doubling: MPICH's defaults (cvars.txt)
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

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
    automatic,
};

struct AllReducePlan {
    // NOLINTNEXTLINE(google-explicit-constructor): a plan of a method alone is that method
    constexpr AllReducePlan(AllReduce only = AllReduce::ring) : method(only) {}

    AllReduce method;
    int servers = 1;                       // of parameter_server
    std::optional<int> first_server_node;  // where they stand one after the other; none: on workers
    int devices = 1;                       // of hierarchical: per machine
};

/// The largest vector that `automatic` sends whole.
constexpr Bytes most_bytes_doubled{2048};

/// The plan that a vector of this size is reduced by: never `automatic`.
AllReducePlan plan_for(AllReducePlan plan, Bytes size);

/// A literal: "ring all-reduce".
std::string_view name_of(AllReducePlan plan, Bytes size);

Task<> all_reduce(AllReducePlan plan, Rank self, Bytes size);

}  // namespace paceline
