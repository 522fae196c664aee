// Closed forms of exchanges: one for each aggregation (aggregation_forms.hpp) and one for each
// schedule (schedule_forms.hpp), none for an algorithm.
//
//   a step    the end of its last piece, or of backward, then the update
//   bytes     of a worker's message, by codec
//   messages  over all n workers, by aggregation (message_counts.hpp; scalers: recursive doubling):
//
//     two-phase         2 n (n-1)
//     servers           2 q n, on the workers 2 q (n-1); low rank twice
//     one bit           4 n (n-1) per buffer
//     leaders           p machines, inside each: dense     2 (g (g-1) + g-1)
//                                                encoded   g-1 + g-1 + g (g-1)
//     shards            2 p g (g-1), and g times those of p
//
// Several streams: pieces that are alike, leave together and are coded in no time do the same at
// the same time on s streams. Each flow has an s-th of its links, and a stream carries every s-th
// piece: the form of one stream, by links of B/s. After backward alone, and with as many pieces on
// each stream.
//
// Steps are otherwise unknown, and empty, with several streams and more than one piece, into
// forward, and where the aggregation is unknown.
#pragma once

#include <cstdint>
#include <optional>

#include "algorithms/exchange/exchange_options.hpp"
#include "algorithms/timing/merged_timing.hpp"
#include "analysis/forms/step_models.hpp"

namespace paceline {

/// Returns the bytes of one worker's message of all tensors, before it is cut or summed. `density`
/// is that of DGC's stage.
Bytes form_of_contribution(const ExchangeOptions& options, const Layout& layout, WireFormat wire,
                           int workers, double density = 1);

/// Returns the time of a step.
std::optional<Duration> exchange_step_time(const ExchangeOptions& options, std::int64_t passes,
                                           const StepModelInput& in, double density = 1);

/// Returns how long a run of tensors holds the communication stream, for MG-WFBP's rule; at DGC's
/// final density. The start-up is what two exchanges of half the tensors take more than one of all.
/// Empty where the aggregation is unknown, or there are fewer than two tensors.
std::optional<ExchangeEstimate> exchange_estimate(const ExchangeOptions& options,
                                                  const StepModelInput& in);

/// Returns the number of messages of an exchange of all pieces, over all workers.
std::int64_t exchange_messages(const ExchangeOptions& options, const StepModelInput& in,
                               double density = 1);

}  // namespace paceline
