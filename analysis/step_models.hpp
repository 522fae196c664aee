// Closed forms of one training step on an idle star: computation, then the exchange of its
// algorithm.
//
// Predictions to stand beside simulated step times. They assume that all nodes begin the step
// together; where nodes leave a collective at different times (groups that are not a power of two)
// consecutive steps overlap a little, and the simulated step can be shorter.
#pragma once

#include <cstdint>
#include <optional>

#include "algorithms/dense_sgd.hpp"
#include "algorithms/dgc.hpp"
#include "algorithms/gradient_dropping.hpp"
#include "analysis/closed_forms.hpp"

namespace paceline {

/// What the step models need to know of a run.
struct StepModelInput {
    int nodes;
    IdleStar star;
    Duration compute;  // of one gradient
    LayoutPtr layout;
    WireFormat wire;
};

Duration all_reduce_time(AllReduce how, int n, Bytes size, const IdleStar& star);

Duration dense_sgd_step_time(const DenseSgdOptions& options, const StepModelInput& in);
Duration dgc_step_time(const DgcOptions& options, double density, const StepModelInput& in);
Duration gradient_dropping_step_time(const GradientDroppingOptions& options, std::int64_t step,
                                     const StepModelInput& in);

}  // namespace paceline
