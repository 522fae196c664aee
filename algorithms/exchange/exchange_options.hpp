// The three choices of an exchange, made apart: what is sent, how it travels, and when.
#pragma once

#include "algorithms/exchange/codec.hpp"
#include "algorithms/exchange/schedule.hpp"
#include "algorithms/exchange/transport.hpp"

namespace paceline {

struct ExchangeOptions {
    Codec codec{};
    TransportPlan transport{};
    ExchangeSchedule schedule{};
};

}  // namespace paceline
