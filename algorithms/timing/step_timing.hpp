// How long a worker computes in one step, and when each bucket of the gradient is complete.
//
//   step = forward + backward,  backward = 2 forward
//   (three multiply-accumulates of training per one of inference)
//
// Backward runs from the last layer to the first. The time it spends on each layer is proportional
// to the layer's multiply-accumulates; layers without any take no time. Consecutive tensors, last
// layer first, form buckets of about a given size. A bucket is complete when backward has left its
// first layer. The last bucket is complete at the end of the step, so its exchange is a tail that
// no overlap can hide. Source of the factor 2: measured backward/forward ratios of 1.9 to 2.2
// (jcjohnson/cnn-benchmarks, README).
//
// Where forward f_l and backward b_l of each layer were measured (models/tensor_times.hpp), layers
// 1 .. L in forward order, these times take the place of the thirds and the multiply-accumulates:
//
//   ready     of a bucket down to layer l  =  sum of all f + (b_L + ... + b_l)
//   forward_end  of a bucket up to layer k  =  f_1 + ... + f_k
//   both times  step / (sum of all f and b)    1, unless the scenario states another step
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "models/tensor_times.hpp"
#include "models/tensors/layout.hpp"
#include "sim/engine/units.hpp"

namespace paceline {

/// Tensors first .. first+count-1 of the layout, and the time from the beginning of the step until
/// their gradient is complete.
struct Bucket {
    std::size_t first;
    std::size_t count;
    Duration ready;
    /// When the step's first forward pass has left its layers; empty: half of what backward takes.
    std::optional<Duration> forward_end{};
};

/// Returns the number of entries of the bucket's tensors.
std::int64_t entries_of(const Bucket& bucket, const Layout& layout);

struct StepTiming {
    Duration step{};
    std::vector<Bucket> buckets;  // in the order in which backward completes them; never empty
    int gradients = 1;            // that a step adds up
};

/// `tensor_macs[i]` is the part of the layer's multiply-accumulates that is booked on tensor i, in
/// any unit; if all are zero, entries are used instead. A bucket is closed once it holds
/// `bucket_entries` or more. Requires bucket_entries >= 1 and at least one tensor.
StepTiming make_step_timing(Duration step, const Layout& layout,
                            const std::vector<double>& tensor_macs, std::int64_t bucket_entries);

/// The same by measured times; `step` is their sum, or scales them. Requires times of every tensor,
/// none negative, that add up to more than 0.
StepTiming make_measured_timing(Duration step, const Layout& layout, const TensorTimes& times,
                                std::int64_t bucket_entries);

/// Returns the timing of a step of several gradients that are added up before they are exchanged,
/// so that only the last one completes buckets. Requires gradients >= 1.
StepTiming accumulated(StepTiming one, int gradients);

/// Returns a timing with one bucket: the whole gradient is complete at the end of the step.
StepTiming make_step_timing(Duration step, const Layout& layout);

}  // namespace paceline
