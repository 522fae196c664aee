// Loss as what it leaves of a rate: no packets are simulated.
//
// A link that loses a share p of what it carries has (1-p) of its capacity left, as what is lost is
// sent again. And a flow whose route loses p = 1 - prod over links of (1 - p_l) is held back by its
// congestion window: its rate is at most
//
//     MSS / RTT  sqrt(3/2) / sqrt(p)
//
// with the payload of a segment MSS = 1448 bytes and the round trip RTT = 2 x (sum of the latencies
// of its route and of the means of their jitter). It bounds each flow and not the link: several
// flows have the bound each.
//
// Source: Mathis, Semke, Mahdavi, Ott. "The Macroscopic Behavior of the TCP Congestion Avoidance
// Algorithm." Computer Communication Review 27(3), 1997; the constant sqrt(3/2) (an acknowledgement
// for each segment, losses evenly spaced) from memory, unverified. Limits: long flows of loss-driven
// TCP, no timeouts (so it is too kind where p is above some percent); a short message meets the
// bound as a long one does.
#pragma once

#include "sim/engine/units.hpp"

namespace paceline {

inline constexpr Bytes segment_payload{1448};

/// Of losses one after the other. Requires both in [0, 1).
constexpr double combined_loss(double first, double second) {
    return 1 - (1 - first) * (1 - second);
}

/// The most that one flow reaches; no bound, the largest bandwidth, without loss or round trip.
/// Requires 0 <= loss < 1. At least 1 bit per second.
Bandwidth loss_bound(double loss, Duration round_trip);

}  // namespace paceline
