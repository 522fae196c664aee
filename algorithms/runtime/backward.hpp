// The backward pass of one step, whose gradient becomes complete bucket by bucket.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "algorithms/runtime/step_timing.hpp"
#include "models/tensors/vector.hpp"
#include "sim/engine/task.hpp"
#include "sim/engine/units.hpp"

namespace paceline {

struct SharedState;
struct WorkerState;

/// The backward pass of one step: its buckets become complete one after the other, last layer
/// first.
class Backward {
  public:
    /// Begins the pass for the worker's next gradient, at x (Worker::backward).
    Backward(SharedState& shared, WorkerState& own, Vector x);

    [[nodiscard]] std::size_t buckets() const { return buckets_->size(); }
    /// Returns where bucket i begins in the whole gradient.
    [[nodiscard]] std::int64_t offset(std::size_t i) const;
    /// Returns the weight of bucket i on the wire.
    [[nodiscard]] Bytes weight(std::size_t i) const;

    /// Waits until bucket i is complete and returns its part of the gradient, with a layout of its
    /// own. The last bucket ends the step. If messages weigh as another layout than the model's,
    /// the buckets are those of that layout, and each holds the same share of the gradient's
    /// entries.
    Task<Vector> bucket(std::size_t i);

  private:
    struct Gradient;

    SharedState* shared_;
    WorkerState* own_;
    const std::vector<Bucket>* buckets_;
    LayoutPtr charged_;  // the layout that the buckets are parts of
    Time begin_;
    std::vector<Duration> ready_;         // from begin_ until each bucket is complete
    std::shared_ptr<Gradient> gradient_;  // joined when the first bucket is complete
};

}  // namespace paceline
