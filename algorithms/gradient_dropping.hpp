// Gradient dropping: one global threshold over the whole gradient, and what is below it waits.
//
// Aji, Heafield. "Sparse Communication for Distributed Gradient Descent." EMNLP 2017; what the
// paper leaves open follows Marian (marian-nmt/marian-dev). One step, on worker i:
//
//   r   <-  r + g                          the residual of the worker
//   t   <-  threshold: |r| at a regular stride, at most 100,000 of them, ascending; the one that
//           has floor(R samples) - 1 before it, R = 1 - density the drop rate
//   send r where |r| > t;  r <- 0 there    (how many entries that are follows from t)
//   m   <-  beta m + mean_i sparse(r_i)    ordinary momentum SGD on the mean
//   x   <-  x - gamma m
//
// Differences from DGC: one selection over the whole vector, biases included, so nothing travels
// uncompressed; no momentum correction, clipping or masking.
//
// The first `dense_steps` updates are exchanged dense (Marian: 100). The threshold from a sample is
// what `sampled` and `free` find, `exact` sorts all entries; what that costs in simulated time is
// the sort. The original exchanges through a parameter server; here the sum is formed by the same
// exchanges as DGC's. A residual that is not finite is not selected from: a NaN is sent, so that
// the model diverges, as it would have densely.
#pragma once

#include <cstdint>
#include <span>

#include <Eigen/Core>

#include "algorithms/compression/sparse_vector.hpp"
#include "algorithms/compression/top_k.hpp"
#include "algorithms/dgc.hpp"
#include "algorithms/optimizers/momentum.hpp"

namespace paceline {

struct GradientDroppingOptions {
    double density = 0.01;  // share that is sent: 1 - drop rate
    DensityLaw law = DensityLaw::independent;
    SparseFormat format{8, 4};  // fp32 value and int32 position
    SparseExchange exchange = SparseExchange::recursive_doubling;
    AllReducePlan all_reduce;  // of the dense steps
    SelectionCost selection;
    std::int64_t dense_steps = 100;
    MomentumRule rule{};  // after aggregation; the comparisons of DGC: momentum 0.9
};

/// Simulated time to find the threshold among `entries`: the sort of all of them, or of the sample.
Duration dropping_time(const SelectionCost& cost, std::int64_t entries);

/// t, for a residual of one entry or more, all finite.
double dropping_threshold(const GradientDroppingOptions& options, std::span<const double> residual,
                          TopKScratch& scratch);
/// Takes what is sent out of the residual. Requires a layout of as many entries.
SparseVector drop(const GradientDroppingOptions& options, const LayoutPtr& layout,
                  Eigen::VectorXd& residual, TopKScratch& scratch);

Task<> gradient_dropping(Worker& self, GradientDroppingOptions options);

/// The exchange of DGC that gradient dropping uses: one compressible tensor that holds everything.
DgcOptions exchange_of(const GradientDroppingOptions& options);
LayoutPtr as_one_tensor(const Layout& layout);

}  // namespace paceline
