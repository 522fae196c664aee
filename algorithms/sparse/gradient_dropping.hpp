// Gradient dropping: one global threshold over the whole gradient; entries below it wait.
//
// Source: Aji, Heafield. "Sparse Communication for Distributed Gradient Descent." EMNLP 2017. Where
// the paper leaves choices open, this follows Marian (marian-nmt/marian-dev).
//
// One step, on worker i:
//
//   r   <-  r + g                          the residual of the worker
//   t   <-  threshold: sample |r| at a regular stride, at most 100,000 of them, ascending; t is
//           the one with floor(R samples) - 1 before it, R = 1 - density the drop rate
//   send r where |r| > t;  r <- 0 there    (how many entries that are follows from t)
//   m   <-  beta m + mean_i sparse(r_i)    ordinary momentum SGD on the mean
//   x   <-  x - gamma m
//
// Differences from DGC: one selection over the whole vector, including biases, so nothing travels
// uncompressed; no momentum correction, clipping or masking.
//
// The first `dense_steps` updates are exchanged dense (Marian: 100). `sampled` and `free` take the
// threshold from a sample, `exact` sorts all entries; the charged time is that of the sort. The
// original exchanges through a parameter server; here DGC's exchanges form the sum, or a
// dense all-reduce of the same values where that moves less (exchange_choice.hpp). If a residual
// is not finite, nothing is selected from it: a NaN is sent, so that the model diverges, as it
// would with dense exchange.
#pragma once

#include <cstdint>
#include <span>

#include <Eigen/Core>

#include "algorithms/compression/sparse/sparse_vector.hpp"
#include "algorithms/compression/sparse/top_k.hpp"
#include "algorithms/optimizers/momentum.hpp"
#include "algorithms/sparse/dgc.hpp"

namespace paceline {

class Worker;

struct GradientDroppingOptions {
    /// Uses density (1 - drop rate), law, format (fp32 value and int32 position) and selection.
    DgcOptions codec{.density = 0.01, .format = {8, 4}};
    AggregationPlan aggregation = sparse_aggregation();  // its all-reduce is that of dense steps
    std::int64_t dense_steps = 100;
    MomentumRule rule{};  // after aggregation; DGC's comparisons use momentum 0.9
};

/// Returns the simulated time to find the threshold among `entries`: the sort of all, or a sample.
Duration dropping_time(const SelectionCost& cost, std::int64_t entries);

/// Returns t. Requires a residual with at least one entry, all finite.
double dropping_threshold(const DgcOptions& codec, std::span<const double> residual,
                          TopKScratch& scratch);
/// Removes the entries to be sent from the residual and returns them. Requires a layout with as
/// many entries as the residual.
SparseVector drop(const DgcOptions& codec, const LayoutPtr& layout, Eigen::VectorXd& residual,
                  TopKScratch& scratch);

Task<> gradient_dropping(Worker& self, GradientDroppingOptions options);

/// Returns the layout of what is selected from: one compressible tensor holds everything.
LayoutPtr as_one_tensor(const Layout& layout);

}  // namespace paceline
