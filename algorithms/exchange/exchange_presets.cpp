#include "algorithms/exchange/exchange_presets.hpp"

#include <utility>

#include "algorithms/compression/none.hpp"
#include "algorithms/compression/signs.hpp"

namespace paceline {

namespace {

ExchangeOptions with(Codec codec, Aggregation kind, AllReducePlan plan) {
    ExchangeOptions options{std::move(codec), {}, {}};
    options.aggregation.kind = kind;
    options.aggregation.all_reduce = plan;
    return options;
}

}  // namespace

ExchangeOptions dense_exchange(AllReducePlan plan) {
    return with({make_none(), false, {}}, Aggregation::all_reduce, plan);
}

ExchangeOptions compressed_exchange(Compressor compressor, bool error_feedback, CodingCost coding,
                                    AllReducePlan plan, AllGather gather) {
    const bool adds_up = compressor.combining == Combining::summable;
    ExchangeOptions options =
        with({std::move(compressor), error_feedback, coding},
             adds_up ? Aggregation::all_reduce : Aggregation::all_gather, plan);
    options.aggregation.all_gather = gather;
    return options;
}

ExchangeOptions low_rank_exchange(std::int64_t rank, AllReducePlan plan, CodingCost coding) {
    return with({LowRankCodec{rank}, false, coding}, Aggregation::all_reduce, plan);
}

AggregationPlan sparse_aggregation(std::optional<AllGather> gather, AllReducePlan plan) {
    if (!gather) return {Aggregation::sparse_all_reduce, plan};
    return {Aggregation::all_gather, plan, *gather};
}

ExchangeOptions sparse_exchange(const DgcOptions& options, const AggregationPlan& aggregation) {
    return {{options}, aggregation, {}};
}

ExchangeOptions vote_exchange(AllGather gather, CodingCost coding) {
    Compressor votes = make_sign();
    votes.majority = true;
    return compressed_exchange(std::move(votes), false, coding, {}, gather);
}

ExchangeOptions scaled_sign_exchange(AllGather gather, CodingCost coding) {
    return compressed_exchange(make_scaled_sign(), true, coding, {}, gather);
}

ExchangeOptions one_bit_exchange(bool fused, CodingCost coding) {
    return with({OneBitCodec{fused}, false, coding}, Aggregation::two_phase, {});
}

}  // namespace paceline
