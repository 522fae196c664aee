// The weight of sparse messages without values, and whether a sparse exchange would move more than
// a dense one, by sizes that all workers know.
//
// Exchanges are counted by their longest chain: the bytes of messages that must follow one another,
// as if every worker had a link of its own. n workers, S bytes of the dense vector, W(c) the union
// of c contributions under the declared density law (sparse.hpp), m = floor(log2 n), and f the
// extra members n - 2^m that the group is folded by:
//
//   exchange                     chain
//   recursive doubling, sparse   sum over i < m of W(c_i) [+ W(1) + W(n)],  c_i = 2^i + min(f, 2^i)
//   all-gathers, sparse          (n-1) W(1)
//   ring                         2 (n-1) ceil(S/n)
//   recursive doubling           m S [+ 2 S]
//   halving-doubling             2 (the halves, quarters, ... of S) [+ 2 S]
//   tree                         2 ceil(log2 n) S
//   q parameter servers          2 s ceil(S/q), s the workers that a server hears from
//   hierarchical, p x g          2 (g-1) ceil(S/g) + 2 (p-1) g ceil(ceil(S/g)/p)
//
// [..] where n is not a power of two. One-dimensional tensors that travel apart add the chain of
// their all-reduce.
//
// Source: this project. The paper (Lin et al., ICLR 2018) is silent. The released code looks at the
// density alone: it gathers at any density below 1. PaddlePaddle's manual advises dense exchange
// for the first epochs.
#pragma once

#include "algorithms/coders/aggregation.hpp"
#include "algorithms/coders/dgc_options.hpp"
#include "algorithms/compression/sparse/sparse_sizes.hpp"
#include "models/tensors/layout.hpp"
#include "sim/engine/units.hpp"

namespace paceline {

/// Returns the rule of messages and of selection at a density.
SparseRule rule_at(const DgcOptions& options, double density);

/// Returns the longest chain of a dense all-reduce of `size` over n workers.
Bytes dense_chain(AllReducePlan plan, int n, Bytes size);

/// Returns the longest chain of a sparse exchange, one-dimensional tensors included.
Bytes sparse_chain(const DgcOptions& options, const AggregationPlan& aggregation,
                   SparseSizes& sizes, int n);

/// Returns the weight of all entries of `layout`, exchanged dense.
Bytes dense_bytes(const DgcOptions& options, const Layout& layout);

/// How the sparsified gradients of a stage are exchanged.
struct StageExchange {
    double density = 1;
    bool dense = true;  // a dense all-reduce carries them
    SparseSizesPtr sizes{};
};

/// Returns the exchange of n workers at this density, whose `sizes` these are. Without servers it
/// is dense at 1, and where the sparse chain is longer.
StageExchange stage_exchange(const DgcOptions& options, const AggregationPlan& aggregation,
                             SparseSizesPtr sizes, double density, int n);

}  // namespace paceline
