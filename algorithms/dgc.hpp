// Deep Gradient Compression: only the largest accumulated gradients are exchanged, the rest stay
// and grow.
//
// Lin, Han, Mao, Wang, Dally. "Deep Gradient Compression: Reducing the Communication Bandwidth for
// Distributed Training." ICLR 2018; what the paper leaves open follows the released code
// (synxlin/deep-gradient-compression).
//
// As a step of the clock (what runs without values; learning with values is refused so far):
//   1. the gradient of the step;
//   2. per compressible tensor, select the ceil(density n_j) largest of the accumulated entries
//      (selection.hpp);
//   3. exchange them: a sparse all-reduce by recursive doubling, whose messages grow as supports
//      merge, or an all-gather of everyone's message, which never merges (sparse.hpp has the laws
//      and the encodings);
//   4. one-dimensional tensors travel with them uncompressed (gathered, as the paper's ratios count
//      them) or are all-reduced on their own.
//
// Warm-up: in the first stages the density is higher; the paper falls by a factor of 4 per epoch,
// 0.25, 0.0625, 0.015625, 0.004, then 0.001. Where sparse would weigh more than dense, dense is
// sent.
//
// Limits: one common density for all tensors; no overlap of computation and communication, as in
// the paper's model.
#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/compression/selection.hpp"
#include "algorithms/compression/sparse.hpp"
#include "algorithms/worker.hpp"

namespace paceline {

/// How sparse contributions come together.
enum class SparseExchange : std::uint8_t { recursive_doubling, all_gather_ring, all_gather_bruck };

/// How the tensors that are not compressed travel.
enum class Uncompressed : std::uint8_t { gathered, all_reduced };

/// Densities of the stages before the final one. A stage lasts a number of steps, or of epochs.
struct WarmUp {
    std::vector<double> densities;
    std::int64_t steps_each = 0;  // used if > 0, else epochs_each
    double epochs_each = 1;
};

struct DgcOptions {
    double density = 0.001;
    DensityLaw law = DensityLaw::independent;
    SparseFormat format;
    SparseExchange exchange = SparseExchange::recursive_doubling;
    Uncompressed uncompressed = Uncompressed::all_reduced;
    AllReducePlan all_reduce;  // of the uncompressed tensors
    SelectionCost selection;
    WarmUp warm_up;  // empty: none
};

/// The density in force at a step.
double density_at(const DgcOptions& options, std::int64_t step, double epoch);

/// One worker's part of a sparse exchange of `layout`; returns when the worker has everyone's sum.
Task<> exchange_sparse(Worker& self, DgcOptions options, LayoutPtr layout, double density);

/// What the union of c contributions weighs in one message of the exchange, uncompressed tensors
/// included if gathered.
Bytes union_bytes(const DgcOptions& options, const Layout& layout, double density,
                  int contributions);

/// Requires a timing-only worker.
Task<> dgc(Worker& self, DgcOptions options);

}  // namespace paceline
