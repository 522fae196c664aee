// Which all-reduce a job uses: one method by name, with its parameters, or one chosen by size.
// Timing plane only.
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
//   open mpi                                      recursive doubling below 10,000 bytes, a ring up
//                                                 to n MiB, above that a ring in segments of 1 MiB,
//                                                 two under way (open-mpi/ompi at 010080e,
//                                                 coll_tuned_decision_fixed.c; only its first half
//                                                 is in segments)
//   nccl                                          one of the others, and what its messages cost, as
//                                                 NCCL chooses by size, ranks and machines
//                                                 (nccl.hpp)
//   in switch, in switches                        in_switches.hpp: of one machine, of several
//
// Sums on the host (Library::sums). A library that adds up on a processor core what its messages
// bring awaits a block, adds it up and sends it on, as Open MPI's rings and Rabenseifner's
// halving-doubling do (open-mpi/ompi @8efebee, coll_base_allreduce.c). So the sums are in series
// with the messages, and as equal members add up at the same time, only their total matters:
//
//   T  =  A/R + messages      R: bytes of a sum per second
//   A  =  S (n-1)/n           ring, halving-doubling
//         S ceil(log2 n)      recursive doubling
//
// Two operands are read and one is written, so R is a third of what STREAM's triad moves on one
// core: 19.9 GB/s on a Haswell E5-2690 v3 (J. McCalpin, community.intel.com, td-p/1126086) and 8.7
// GB/s on an Ivy Bridge E5-2695 v2 (Puget Systems, HPC blog 596) give 6.6 and 2.9 GB/s. Members of
// a machine have a core each. Slices that travel while others are added up (Gloo's ring), trees,
// servers, hierarchies, and sums in switches or on devices have no such form.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "sim/collectives/in_rounds.hpp"
#include "sim/collectives/in_switches.hpp"
#include "sim/collectives/pipelined.hpp"
#include "sim/collectives/plans/hierarchical.hpp"
#include "sim/collectives/plans/nccl.hpp"
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
    open_mpi,
    nccl,
    in_switch,
    in_switches,
};

struct AllReducePlan {
    // NOLINTNEXTLINE(google-explicit-constructor): a plan of a method alone is that method
    constexpr AllReducePlan(AllReduce only = AllReduce::ring) : method(only) {}

    AllReduce method;
    int servers = 1;                       // for parameter_server
    std::optional<int> first_server_node;  // the first of consecutive nodes; none: on the workers
    int devices = 1;  // for hierarchical, double_tree, in_switches and several cards: per machine
    Slices slices{};  // for pipelined_ring, double_tree and in_switches
    int cards = 1;    // for the rings: one through each card of a machine
    InSwitches switches{};
    Nccl library{};  // for nccl
    /// For hierarchical by levels other than machines alone; null: by machines of `devices`.
    std::shared_ptr<const NestedGroups> nested{};
};

/// The largest vector that `automatic` reduces by recursive doubling.
constexpr Bytes most_bytes_doubled{2048};

/// A plan for one vector; its method is none of those that choose.
struct PlanOfSize {
    AllReducePlan plan;
    Bytes size{};         // on the wire
    Duration start_up{};  // of the protocol, behind the library's
    MessageCost cost{};
};

/// Returns what n members do with a vector of this size. By NCCL, they fill machines of
/// `plan.library.devices`, but for the last.
PlanOfSize plan_for(const AllReducePlan& plan, int n, Bytes size);

/// Returns a literal, such as "ring all-reduce".
std::string_view name_of(const AllReducePlan& plan, Bytes size);

/// Returns whether sums of the host are in series with the messages of such an all-reduce.
[[nodiscard]] bool sums_in_series(const AllReducePlan& plan);

/// Returns the time in which each of n members adds up its part. Requires sums in series.
[[nodiscard]] Duration time_of_sums(const AllReducePlan& plan, int n, Bytes size, Bandwidth rate);

/// Returns the ring that this all-reduce consists of; none if it has other messages, or if a
/// start-up, sums or copies belong to it.
[[nodiscard]] std::optional<RingOfChunks> as_ring(const AllReducePlan& plan, const Rank& self,
                                                  Bytes size);

Task<> all_reduce(const AllReducePlan& plan, const Rank& self, Bytes size);

}  // namespace paceline
