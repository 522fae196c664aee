// How long a worker computes in one step, and when in it each bucket of the gradient is complete.
//
//   step = forward + backward,  backward = 2 forward
//   (three multiply-accumulates of training per one of inference)
//
// Backward runs from the last layer to the first and spends on each layer its share of the
// multiply-accumulates; layers without any take no time. Consecutive tensors, last layer first,
// form buckets of about a given size, each complete when backward has left its first layer. The
// last bucket is complete at the end of the step: it is the tail that no overlap can hide. Source
// of the factor 2: measured backward/forward ratios of 1.9 to 2.2 (jcjohnson/cnn-benchmarks,
// README).
#pragma once

#include <cstddef>
#include <vector>

#include "models/layout.hpp"
#include "sim/engine/units.hpp"

namespace paceline {

/// Tensors first .. first+count-1 of the layout, and when their gradient is there, from the
/// beginning of the step.
struct Bucket {
    std::size_t first;
    std::size_t count;
    Duration ready;
};

/// Of the bucket's tensors.
std::int64_t entries_of(const Bucket& bucket, const Layout& layout);

struct StepTiming {
    Duration step{};
    std::vector<Bucket> buckets;  // in the order in which backward completes them; never empty
};

/// `tensor_macs[i]`: share of the layer's multiply-accumulates booked on tensor i (any unit; all
/// zero: by entries). A bucket is closed once it holds `bucket_entries` or more. Requires
/// bucket_entries >= 1 and a tensor or more.
StepTiming make_step_timing(Duration step, const Layout& layout,
                            const std::vector<double>& tensor_macs, std::int64_t bucket_entries);

/// A step of several gradients, which are added up before they are exchanged: only the last
/// completes buckets. Requires gradients >= 1.
StepTiming accumulated(StepTiming one, int gradients);

/// The whole gradient at the end of the step: one bucket.
StepTiming make_step_timing(Duration step, const Layout& layout);

}  // namespace paceline
