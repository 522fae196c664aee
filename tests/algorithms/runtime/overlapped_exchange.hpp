// The exchange of a gradient in the job's buckets, uncompressed, beside backward.
#pragma once

#include "algorithms/exchange/exchange_presets.hpp"

namespace paceline {

inline ExchangeOptions overlapped_exchange(AllReducePlan plan) {
    ExchangeOptions options = dense_exchange(plan);
    options.schedule.whole = false;
    options.schedule.begin = Begin::beside_backward;
    return options;
}

}  // namespace paceline
