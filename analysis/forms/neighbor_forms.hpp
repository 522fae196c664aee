// Closed forms of averages with neighbors, by transport (algorithms/exchange/neighbor_averages.hpp).
//
//   flat      neighbor_step_time (step_models.hpp)
//   leaders   p machines of g devices, S bytes:  2 ((g-1)(l + t'(S/g)) + l + t'((g-1) S/g)) on the bus,
//             and the average of p workers whose links are the slower of bus and card
//
// Known where vectors travel whole and uncompressed, one at a time by machine.
#pragma once

#include <cstdint>
#include <optional>

#include "algorithms/exchange/exchange_options.hpp"
#include "analysis/forms/step_models.hpp"

namespace paceline {

std::optional<Duration> neighbor_exchange_step_time(const ExchangeOptions& options,
                                                    const Mixing& mixing, int vectors, bool beside,
                                                    const StepModelInput& in);

/// `edges` is the number of messages of one average, whole and flat.
std::int64_t neighbor_exchange_messages(const ExchangeOptions& options, std::int64_t edges,
                                        int vectors, const StepModelInput& in);

}  // namespace paceline
