// Readers' last step for methods that exchange gradients in every step.
#pragma once

#include "algorithms/dense/zero.hpp"
#include "algorithms/exchange/exchange_options.hpp"
#include "app/scenario/algorithms/algorithm_entry.hpp"

namespace paceline {

/// Returns synchronous SGD by this exchange, with its costs.
AlgorithmChoice synchronous(AlgorithmChoice choice, const AlgorithmInput& in,
                            const ExchangeOptions& exchange);

/// Returns DGC by this exchange, which has its codec, with its costs.
AlgorithmChoice sparse_sgd(AlgorithmChoice choice, const AlgorithmInput& in,
                           const ExchangeOptions& exchange);

/// Reads "stage", "reduce", "prefetch" and "unit", and sets what the job needs for them.
void read_sharding(const ObjectReader& read, const AlgorithmInput& in, ZeroOptions& options,
                   AlgorithmChoice& choice);

/// Sets bytes, time, messages and memory of a step.
void cost_sharding(AlgorithmChoice& choice, const ZeroOptions& options);

}  // namespace paceline
