// The exchange of an algorithm: its codec, aggregation and schedule as a scenario chose them, and
// what an exchange costs.
#pragma once

#include <cstdint>

#include "algorithms/exchange/exchange_options.hpp"
#include "app/scenario/algorithms/algorithm_entry.hpp"

namespace paceline {

/// Reads "codec", "aggregation" and "schedule" where they are given, over a preset. Sets what the
/// job and the cluster need for it: buckets, servers, messages at once.
ExchangeOptions read_exchange(const ObjectReader& read, const AlgorithmInput& in,
                              ExchangeOptions preset, AlgorithmChoice& choice);

/// The same for methods that average with neighbors.
ExchangeOptions read_neighbor_exchange(const ObjectReader& read, const AlgorithmInput& in,
                                       AlgorithmChoice& choice);

/// Sets bytes, time and messages of an algorithm that exchanges a gradient in every step; `passes`
/// are those of the algorithm before encoding.
void cost_by_exchange(AlgorithmChoice& choice, const AlgorithmInput& in,
                      const ExchangeOptions& options, std::int64_t passes = 0);

}  // namespace paceline
