// Gradient dropping: one global threshold over the whole gradient, and what is below it waits.
//
// Aji, Heafield. "Sparse Communication for Distributed Gradient Descent." EMNLP 2017. The 99 % of
// entries that are smallest by absolute value are kept back and added to the next gradient.
// Differences from DGC: one selection over the whole vector, biases included, so nothing travels
// uncompressed; no momentum correction, clipping or masking.
//
// The first `dense_steps` updates are exchanged dense (Marian's implementation: 100). The threshold
// is estimated from regular samples, at most 100,000 of them (Marian); `sampled` charges the sort
// of the sample, `exact` that of all entries. The original exchanges through a parameter server;
// here the sum is formed by the same exchanges as DGC's.
#pragma once

#include <cstdint>

#include "algorithms/dgc.hpp"

namespace paceline {

struct GradientDroppingOptions {
    double density = 0.01;  // share that is sent: 1 - drop rate
    DensityLaw law = DensityLaw::independent;
    SparseFormat format{8, 4};  // fp32 value and int32 position
    SparseExchange exchange = SparseExchange::recursive_doubling;
    AllReducePlan all_reduce;  // of the dense steps
    SelectionCost selection;
    std::int64_t dense_steps = 100;
};

/// Simulated time to find the threshold among `entries`: the sort of all of them, or of the sample.
Duration dropping_time(const SelectionCost& cost, std::int64_t entries);

/// Requires a timing-only worker.
Task<> gradient_dropping(Worker& self, GradientDroppingOptions options);

/// The exchange of DGC that gradient dropping uses: one compressible tensor that holds everything.
DgcOptions exchange_of(const GradientDroppingOptions& options);
LayoutPtr as_one_tensor(const Layout& layout);

}  // namespace paceline
