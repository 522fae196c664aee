// Closed forms of schedules: when the last piece of a gradient has been decoded.
//
// There are two servers, the device and the communication stream, each first-in first-out. Piece i
// of bucket b(i), with its stages (aggregation_forms.hpp):
//
//   backward    segment b takes ready_b - ready_(b-1) on the device, and is requested when segment
//               b-1 has ended and what its end has set off has been requested
//   encode      on the device; requested when segment b(i) has ended and piece i-1 has been encoded
//   travel      holds the stream; its stages on the device (owners' work, leaders' coding) queue
//               there
//   decode      on the device; requested when the piece has left the stream
//
// After backward all segments are one; in phases, moreover, the stream opens when the last piece
// has been encoded, and pieces are decoded when the last one has arrived. The stream takes the
// piece that was encoded first, or by priority the one with the highest number that is there.
// Without coding this is e_i = max(r_i, e_(i-1)) + X_i, for any number of pieces. It is a
// recurrence over the ends of stages, worked out in order of time.
//
// All workers are assumed to do the same at the same time. Where one has more work than others
// (leaders), the form is that of the busiest.
#pragma once

#include <cstddef>
#include <vector>

#include "algorithms/exchange/piece_schedule.hpp"
#include "algorithms/timing/step_timing.hpp"
#include "analysis/forms/aggregation_forms.hpp"

namespace paceline {

struct ScheduledPiece {
    std::size_t bucket;  // of the timing
    PieceForm form;
};

/// Returns the time from the beginning of the step. Pieces are in the order of their buckets.
/// Requires one stream, and that pieces do not travel into the next forward pass.
Duration end_of_pieces(const StepTiming& timing, const ExchangeSchedule& schedule,
                       const std::vector<ScheduledPiece>& pieces);

}  // namespace paceline
