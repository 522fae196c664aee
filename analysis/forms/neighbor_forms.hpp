// Closed forms of averages with neighbors, by codec, aggregation and schedule
// (algorithms/exchange/neighbor_averages.hpp).
//
// Every worker has degree d. Pieces of M_i bytes; K_i: time to encode one message and decode one, 0
// if nothing is encoded; c_i: the time at which piece i is coded.
//
//   flat      the end is  L + max over i of ( c_i + t(d sum over j >= i of M_j) )
//             All pieces that have left share the link, which is busy from the first that it never
//             catches up with to the end.
//             after backward    c_i = T1 + sum of the K_j:  they leave together
//             beside            c_i = c_(i-1) + segment i of backward + K_i,  on the device
//   leaders   p machines of g devices, which take one piece at a time:  reduce, K_i on the leader,
//             L + t(d M_i), broadcast;  inside a machine (g-1)(l + t'(S/g)) + l + t'((g-1) S/g)
//             each way, on the bus, and between them the slower of bus and card. A schedule of such
//             pieces (schedule_forms.hpp)
//   islands   T1 + v (L + t(d M/g) on a lane, and what is handed on inside (inside_forms.hpp)):
//             v vectors one after the other, whole and uncompressed, after backward
//
// Where the average runs beside the gradient of the same model, the step is the longer of the two:
// known where vectors travel uncompressed, flat in any pieces, or whole by machine. Several
// vectors: known flat, whole and uncompressed (step_models.hpp). Several streams and into forward
// do not occur.
#pragma once

#include <cstdint>
#include <optional>

#include "algorithms/exchange/exchange_options.hpp"
#include "analysis/forms/step_models.hpp"

namespace paceline {

std::optional<Duration> neighbor_exchange_step_time(const ExchangeOptions& options,
                                                    const Mixing& mixing, int vectors, bool beside,
                                                    const StepModelInput& in);

/// Returns L + t(d size) among the members of a network, if all have the same degree d.
std::optional<Duration> neighbor_messages_time(const Mixing& mixing, Bytes size,
                                               const IdleNetwork& network);

/// `edges` is the number of messages of one average, whole and flat.
std::int64_t neighbor_exchange_messages(const ExchangeOptions& options, std::int64_t edges,
                                        int vectors, const StepModelInput& in);

}  // namespace paceline
