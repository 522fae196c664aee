// The three choices of an exchange, made apart: what is sent, how it travels, and when.
#pragma once

#include "algorithms/exchange/aggregation.hpp"
#include "algorithms/exchange/codec.hpp"
#include "algorithms/exchange/schedule.hpp"

namespace paceline {

struct ExchangeOptions {
    Codec codec{};
    AggregationPlan aggregation{};
    ExchangeSchedule schedule{};
};

}  // namespace paceline
