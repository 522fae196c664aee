// Exchanges that papers and libraries have given names.
#pragma once

#include <optional>

#include "algorithms/exchange/exchange_options.hpp"

namespace paceline {

/// Uncompressed, whole, after backward.
ExchangeOptions dense_exchange(AllReducePlan plan);
/// Whole messages, all-reduced if they add up, else all-gathered.
ExchangeOptions compressed_exchange(Compressor compressor, bool error_feedback,
                                    CodingCost coding = {}, AllReducePlan plan = {},
                                    AllGather gather = AllGather::ring);
ExchangeOptions low_rank_exchange(std::int64_t rank, AllReducePlan plan, CodingCost coding = {});
/// Sparse messages merge by recursive doubling, or are gathered; what is dense is all-reduced.
AggregationPlan sparse_aggregation(std::optional<AllGather> gather = {}, AllReducePlan plan = {});
/// DGC's.
ExchangeOptions sparse_exchange(const DgcOptions& options,
                                const AggregationPlan& aggregation = sparse_aggregation());
/// Signs, gathered, and the vote of all.
ExchangeOptions vote_exchange(AllGather gather = AllGather::ring, CodingCost coding = {});
/// Scaled signs with error feedback, gathered.
ExchangeOptions scaled_sign_exchange(AllGather gather = AllGather::ring, CodingCost coding = {});
/// DeepSpeed's compressed all-reduce.
ExchangeOptions one_bit_exchange(bool fused, CodingCost coding = {});

}  // namespace paceline
