// The three choices of an exchange, made apart: what is sent, how it travels, and when.
#pragma once

#include "algorithms/coders/aggregation.hpp"
#include "algorithms/coders/codec.hpp"
#include "algorithms/exchange/piece_schedule.hpp"

namespace paceline {

struct ExchangeOptions {
    Codec codec{};
    AggregationPlan aggregation{};
    ExchangeSchedule schedule{};
};

}  // namespace paceline
