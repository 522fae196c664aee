// Runs one collective per step and no training, to measure what a network achieves.
//
// nccl-tests and the OSU benchmarks measure real networks this way. After the gradient's time (0 s
// measures the collective alone) every worker takes part in one collective over S bytes, the size
// of the model on the wire:
//
//   all-reduce       of S, by a plan
//   reduce-scatter   of S, by a ring
//   all-gather       of S in all, a block of ceil(S/n) from each worker
//   all-to-all       of S per worker, a block of ceil(S/n) for each other one, in rounds or grouped
//   broadcast        of S from the first worker, along a binomial tree (also with all sends of a
//                    worker at once) or a chain
//   reduce           of S to the first worker, along a binomial tree or a chain, or by a ring and a
//                    gather
//
// Reduce-scatter, all-gather, broadcast and reduce can also go as NCCL chooses by size (nccl.hpp).
//
// There is no barrier between steps: a worker that is done begins the next step, so several
// broadcasts may overlap.
#pragma once

#include <cstdint>
#include <optional>

#include "sim/collectives/all_to_all.hpp"
#include "sim/collectives/plans/all_reduce_plan.hpp"
#include "sim/engine/task.hpp"
#include "sim/engine/units.hpp"

namespace paceline {

class Worker;

enum class Operation : std::uint8_t {
    all_reduce,
    reduce_scatter,
    all_gather_ring,
    all_gather_bruck,
    all_to_all,
    broadcast,
    reduce,
};

/// How a broadcast or a reduce goes; at once is for broadcasts, the ring for reduces.
enum class RootedMethod : std::uint8_t { binomial, at_once, chain, ring };

struct CollectiveOptions {
    Operation operation = Operation::all_reduce;
    AllReducePlan all_reduce;
    RootedMethod method = RootedMethod::binomial;
    Slices slices{};  // of chain and ring
    AllToAll all_to_all = AllToAll::rounds;
    std::optional<Nccl> library{};  // which chooses, for the rest but the all-reduce
};

/// Returns NCCL's name of an operation for which it chooses.
Nccl::Operation by_name_of_nccl(Operation operation);

/// Returns the block that each worker contributes to an all-gather, or sends to each other worker
/// in an all-to-all.
Bytes block_of(Bytes size, int workers);

/// Requires a timing-only worker.
Task<> collective(Worker& self, CollectiveOptions options);

}  // namespace paceline
