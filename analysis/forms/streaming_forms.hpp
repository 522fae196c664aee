// Closed forms of Streaming DiLoCo, on an idle network.
//
//   T = T1 + U  a step without an exchange
//   E, W, D     coding before a fragment travels, its time on the wires, coding behind
//
//   tau = 0     the step after which a fragment is due:  T + E + W + D
//   tau > 0     of the tau steps behind that one, the first takes E longer, the last max(0, W - tau
//               T), and the one in which the messages arrive D: step min(floor(W / T), tau - 1) of
//               them
//
// Messages and bytes: those of the fragment, in the step after which it is due. Known where the
// exchange has one stage of coding before its wires and one behind (aggregation_forms.hpp), or tau
// is 0.
#pragma once

#include <cstdint>
#include <optional>

#include "algorithms/local/streaming_diloco.hpp"
#include "analysis/forms/step_models.hpp"

namespace paceline {

/// Returns the time of step k.
std::optional<Duration> streaming_step_time(const StreamingDilocoOptions& options, std::int64_t k,
                                            const StepModelInput& in);

/// Returns the messages that begin after step k, over all workers.
std::int64_t streaming_messages(const StreamingDilocoOptions& options, std::int64_t k,
                                const StepModelInput& in);

/// Returns the mean over a period of the bytes that one worker contributes to a step.
Bytes streaming_contribution(const StreamingDilocoOptions& options, const Layout& layout,
                             WireFormat wire, int workers);

}  // namespace paceline
