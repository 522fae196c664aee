// Readers' last step for methods that exchange gradients in every step.
#pragma once

#include "algorithms/exchange/exchange_options.hpp"
#include "app/scenario/algorithms/algorithm_entry.hpp"

namespace paceline {

/// Returns synchronous SGD by this exchange, with its costs.
AlgorithmChoice synchronous(AlgorithmChoice choice, const AlgorithmInput& in,
                            const ExchangeOptions& exchange);

/// Returns DGC by this exchange, which has its codec, with its costs.
AlgorithmChoice sparse_sgd(AlgorithmChoice choice, const AlgorithmInput& in,
                           const ExchangeOptions& exchange);

}  // namespace paceline
