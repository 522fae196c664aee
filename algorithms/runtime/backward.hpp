// The computation of one gradient, whose buckets become complete one after the other.
//
// Backward runs from the last layer to the first. What it computes for a bucket is a segment: it
// queues on the worker's device (computation.hpp) and runs to its end, and then the bucket is
// complete. The next segment is requested after that, behind everything that was requested until
// then and behind what those that await completed() request in the same instant: the coding of a
// bucket goes before the backward pass of the next one, as kernels that a hook launches do. With
// nothing else on the device, bucket i is complete at
//
//   t_i = t + ready_i          ready_i: StepTiming, slowed as Job::compute_time says of time t
//
// Into forward. When pieces of the model arrive one by one, the forward pass need not wait for all
// of them. It goes through the buckets in reverse, first layers first; the layers of a bucket take
// half the time that their backward pass takes, or what was measured (step_timing.hpp), and wait
// for their bucket:
//
//   s_b = max(e_(b+1), a_b),   e_b = s_b + f_b,   b = B-1, ..., 0;   e_B = t
//
// with a_b the time at which bucket b has arrived and f_b the time of its forward pass. The f_b and
// the segments of backward add up to the step, to the picosecond. The gradient is that at the model
// as it stands at e_0. If a step adds up several gradients, only its first forward pass waits, and
// the others count as part of the first segment of the last backward pass.
//
// Micro-batches. Where parameters are gathered unit by unit (dense/zero.hpp), every pass of every
// gradient of a step waits for each bucket, and each backward pass completes it. With B buckets,
// computations are numbered j = 2Bm, ..., 2Bm + 2B - 1 for gradient m = 0, 1, ...: its forward
// passes of buckets B-1, ..., 0, then its backward passes of 0, ..., B-1.
//
//   s_j = max(e_(j-1), a_j),   e_j = s_j + c_j
//
// with a_j when `reach(j)` has returned, and c_j as above for each gradient.
//
// Source of into forward: Peng et al., "ByteScheduler", SOSP 2019.
// Limits: layers of a bucket wait for the whole bucket; forward and backward of a bucket's layers
// are not cut where coding wants the device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "algorithms/timing/step_timing.hpp"
#include "models/tensors/vector.hpp"
#include "sim/compute/shared_device.hpp"
#include "sim/engine/signal.hpp"
#include "sim/engine/task.hpp"
#include "sim/engine/units.hpp"

namespace paceline {

struct SharedState;
struct WorkerState;

class Backward {
  public:
    /// Waits until a bucket of the model has arrived.
    using Arrived = std::function<Task<>(std::size_t bucket)>;
    /// Waits until computation j may begin.
    using Reach = std::function<Task<>(std::size_t j)>;

    /// Begins the computation of the worker's next gradient, at x as passed (Worker::backward).
    static Backward of_model(SharedState& shared, WorkerState& own, Vector x);
    /// The same, but the forward pass of each bucket's layers begins when `arrived(bucket)` has
    /// returned (Worker::forward_and_backward). Requires that x outlives the forward pass.
    static Backward into_forward(SharedState& shared, WorkerState& own, const Vector& x,
                                 Arrived arrived);
    /// Computes micro-batch by micro-batch; computation j begins when `reach(j)` has returned
    /// (Worker::micro_batches). Requires that x outlives the first forward pass.
    static Backward by_micro_batch(SharedState& shared, WorkerState& own, const Vector& x,
                                   Reach reach);

    [[nodiscard]] std::size_t buckets() const { return buckets_->size(); }
    /// Returns of how many gradients the buckets become complete, one after the other.
    [[nodiscard]] std::size_t micro_batches() const;
    /// Returns where bucket i begins in the whole gradient.
    [[nodiscard]] std::int64_t offset(std::size_t i) const;
    /// Returns the layout of bucket i as a vector of its own. If messages weigh as another layout
    /// than the model's, the buckets are those of that layout, and each holds the same share of the
    /// gradient's entries.
    [[nodiscard]] LayoutPtr layout(std::size_t i) const;

    /// co_await backward.completed(i) waits until bucket i is complete. The last bucket ends the
    /// step: await it before the next gradient.
    [[nodiscard]] Signal::Happened completed(std::size_t i) const;
    /// The same of bucket i of gradient m, of a computation by micro-batches.
    [[nodiscard]] Signal::Happened completed(std::size_t m, std::size_t i) const;
    /// Returns the whole gradient. Requires that the first bucket is complete.
    [[nodiscard]] const Vector& gradient() const;

  private:
    struct Pass;

    Backward(SharedState& shared, std::shared_ptr<Pass> pass, Task<> running);

    static Task<> run(std::shared_ptr<Pass> pass);
    static void end_bucket(Pass& pass, std::size_t i);
    static Task<> wait_for(Pass& pass, Task<> arrival);
    static WorkOnDevice begin_segment(Pass& pass, Duration time);

    SharedState* shared_;
    const std::vector<Bucket>* buckets_;
    LayoutPtr charged_;           // the layout that the buckets are parts of
    std::shared_ptr<Pass> pass_;  // shared with its coroutine, because an algorithm may move this
    Pending<> running_;
};

/// Returns the entries of `whole` from `offset` on as a vector of layout `part`.
Vector part_of(const Vector& whole, std::int64_t offset, LayoutPtr part);

}  // namespace paceline
