// MG-WFBP's merging rule: which tensors of a gradient are exchanged as one.
//
// Each exchange has a start-up, so many small ones beside backward are slow; one exchange of
// everything hides nothing behind backward. Tensors l = L .. 1, last layer first:
//
//   r_l          the time at which backward completes tensor l
//   X(l .. k)    time of an exchange of tensors l .. k;  in the paper a + b (M_l + .. + M_k)
//   a            its start-up: what two exchanges cost more than one of both
//   s_l          max(r_l, end of the exchange before): when the open run, down to l, could begin
//
//   from L to 2:  if  r_(l-1) < s_l + a,  tensor l-1 joins the open run
//                 else the run is exchanged, and l-1 begins the next
//
// So a run waits for one more tensor if the wait is shorter than the start-up that it saves. If
// X = a + b M, the last exchange ends
//
//   no later than with a tensor per exchange    each merging brings the end of the others forward
//   no later than with one exchange of all      a run ends at most b M after the next tensor is
//                                               complete
//
// and so at most twice as late as with the best cut. The paper calls the outcome optimal. It is not
// always: a run may wait again and again, each time for less than a, although its first tensors
// could long have been sent. In random nets of up to 10 tensors it was the best of all cuts in 60
// %, and up to 1.48 times as long in the others (tests/algorithms/timing/merged_timing_test.cpp).
//
// One communication stream, first-in first-out, coding free. Source: Shi, Chu, Li, "MG-WFBP",
// INFOCOM 2019, algorithm 1; released code (HKBU-HPML/MG-WFBP, distributed_optimizer.py), which is
// the same rule where X >= a.
#pragma once

#include <functional>

#include "algorithms/timing/step_timing.hpp"
#include "sim/engine/units.hpp"

namespace paceline {

struct ExchangeEstimate {
    Duration start_up{};                            // a
    std::function<Duration(const Bucket&)> time{};  // X, which includes a; `ready` says nothing
};

/// Returns the timing whose buckets are runs of those of `tensors`.
StepTiming merged(const StepTiming& tensors, const ExchangeEstimate& exchange);

}  // namespace paceline
