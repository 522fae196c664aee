// ZeRO: data parallelism whose workers do not all keep the same. Each keeps a shard of what Adam
// needs, of the gradient, or of the parameters, and gathers the rest when it is due.
//
//   stage 1   shards of Adam's moments              gradients: reduce-scatter; the updated shards:
//                                                   all-gather
//   stage 2   and of the gradient                   the same messages
//   stage 3   and of the parameters (FSDP)          parameters of a unit: all-gather before its
//                                                   forward pass, and again before its backward
//                                                   pass; its gradient: reduce-scatter behind it
//
// Units are the job's buckets, u = B-1, ..., 0 in the order of the forward pass. A step adds up a
// gradients (micro-batches, the workload's accumulation), m = 0, ..., a-1. Their computations are
// numbered j = 2Bm, ..., 2Bm + 2B - 1: the forward passes of the units, then the backward passes.
// There is one communication stream. In stage 3
//
//   gather j        begins when computation j-p is wanted: when the one before it has ended
//   computation j   begins when gather j has ended and computation j-1 has
//   reduce m, u     begins when the backward pass of u in m has ended; on the stream it stands
//                   before gather 2Bm + B+u+1+p
//
// with p units gathered ahead (`prefetch`; 0: none before it is wanted), also from one micro-batch
// into the next. In stages 1 and 2 the gradient of a unit is reduced as soon as it is complete,
// beside backward; the updated parameters are gathered behind the update, unit by unit, and nothing
// overlaps with that.
//
// Gradients are reduced in each micro-batch, or in the last one alone: then each worker adds up
// whole gradients until there.
//
//   reduce     each micro-batch: FSDP2 unless told otherwise by set_requires_gradient_sync
//              (pytorch/pytorch#126166), DeepSpeed in stages 2 and 3. The last one: DeepSpeed in
//              stage 1 (runtime/zero/stage_1_and_2.py, reduce_ready_partitions_and_remove_grads,
//              commit edaa722). These are the defaults.
//
// Shards stand on all n workers, or by machine on its g devices (HSDP): then gathers stay inside,
// and a reduce is a reduce-scatter inside, behind which the devices i of all machines all-reduce
// their chunks.
//
//   library    with NCCL, gathers, reduces and the all-reduces of copies go as it chooses by size
//              (sim/collectives/plans/nccl.hpp)
//   rings      gathers and reduces go around one ring, or around one for each network card of the
//              machines (sim/collectives/plans/card_rings.hpp), if shards stand on all n workers
//   values     those of dense Adam: x <- adam_step with the mean gradient (optimizers/adam.hpp).
//              Only the clock differs.
//   bytes      of S bytes of parameters, each worker sends (n-1)/n of (r + 1) S, (r + 1) S and (r +
//              2a) S in stages 1, 2 and 3, with r = a or 1 reduces
//   update     takes an n-th of the job's update time (a g-th by machine)
//   memory     bytes of a device, N parameters, w bytes each, in d shards, M parameters of the
//              largest unit, with Adam's K = 8 (and 4 more for a copy in fp32 if w = 2):
//                1: 2 w N + K N/d      2: w N + (w + K) N/d + w M      3: (2 w + K) N/d + (p + 2) w
//                                      M
//              the last terms are units as a whole: their gradients, and in stage 3 the parameters
//              of p + 1 of them. If stage 2 or 3 reduces in the last of several micro-batches
//              alone, whole gradients come on top: w N in place of one w M.
//
// Reductions: the bytes of stages 1 and 2 are those of a ring all-reduce. HSDP on one machine is
// stage 3.
//
// Source: Rajbhandari, Rasley, Ruwase, He, "ZeRO", SC 2020 (arXiv 1910.02054), as others quote it:
// stage 1 moves what data parallelism moves (DeepSpeed's blog, 2020-03-17), stage 3 moves 3 S
// (ZeRO++, arXiv 2306.10209), and 7.5 billion parameters on 64 devices take 31.4, 16.6 and 1.9 GB
// instead of 120. Zhao et al., "PyTorch FSDP", VLDB 2023: from memory, unverified. Not modeled:
// tensor and pipeline parallelism, offloading, and units that stay gathered between forward and
// backward.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "algorithms/optimizers/adam.hpp"
#include "algorithms/runtime/kept_bytes.hpp"
#include "algorithms/runtime/wire_format.hpp"
#include "models/tensors/vector.hpp"
#include "sim/collectives/plans/nccl.hpp"
#include "sim/engine/task.hpp"
#include "sim/engine/units.hpp"

namespace paceline {

class Worker;

/// In which micro-batches of a step gradients are reduced.
enum class ZeroReduce : std::uint8_t { each, last };

struct ZeroOptions {
    int stage = 3;     // 1, 2 or 3
    int prefetch = 1;  // p, of stage 3
    int machine = 0;   // g, the devices of a machine that has all shards; 0: shards on all workers
    AdamRule rule{};
    ZeroReduce reduce = ZeroReduce::each;
    int cards = 1;  // rings of gathers and reduces, one through each card of a machine
    std::optional<Nccl> library{};  // which chooses for gathers and reduces, rings included
};

/// Returns what the libraries do in that stage.
[[nodiscard]] constexpr ZeroReduce usual_reduce(int stage) {
    return stage == 1 ? ZeroReduce::last : ZeroReduce::each;
}

/// Returns how many shards there are.
[[nodiscard]] constexpr int shards_of(const ZeroOptions& options, int workers) {
    return options.machine > 0 ? options.machine : workers;
}

/// Returns how many times a step of `gradients` micro-batches reduces its gradients.
[[nodiscard]] constexpr int reduces_of(const ZeroOptions& options, int gradients) {
    return options.reduce == ZeroReduce::each ? gradients : 1;
}

/// Returns what parameters, gradient, Adam and whole units take on a device, without activations,
/// where a step adds up so many gradients.
KeptBytes zero_memory(const ZeroOptions& options, std::int64_t parameters,
                      std::int64_t largest_unit, WireFormat wire, int workers, int gradients = 1);

/// The messages of a step, for methods whose optimizer is another.
class ShardedGradients {
  public:
    /// Requires that the worker outlives this object.
    ShardedGradients(Worker& self, const ZeroOptions& options);
    ~ShardedGradients();
    ShardedGradients(const ShardedGradients&) = delete;
    ShardedGradients& operator=(const ShardedGradients&) = delete;

    /// Returns the mean gradient at x of all workers. Requires that x outlives the task.
    Task<Vector> mean_gradient(const Vector& x);
    /// Takes the time of the optimizer's work on a shard, and gathers the updated parameters where
    /// they are not kept in shards.
    Task<> update();

  private:
    class Units;

    Worker& self_;
    std::unique_ptr<Units> units_;
};

Task<> zero(Worker& self, ZeroOptions options);

}  // namespace paceline
