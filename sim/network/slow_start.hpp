// TCP slow start: what the first message of a connection loses to its growing windows.
//
// The k-th window is w_k = 2^k w_0 bytes, and its answer comes after a round trip. On a route of
// capacity C and round trip RTT, the k-th window leaves the route idle for RTT - w_k/C. So the
// message begins late by
//
//     sum over k of (RTT - w_k/C),
//
// until a window fills the route (w_k >= RTT C) or the message is through (w_0 + ... + w_k >= S).
// A connection is an ordered pair of hosts. It is opened by the first message that sets out on it,
// and stays open: neither a pause nor the death of a host closes it. Memory: O(connections).
#pragma once

#include <cstdint>
#include <unordered_set>

#include "sim/engine/units.hpp"

namespace paceline {

struct SlowStart {
    Bytes first_window{};                             // w_0; 0: no slow start
    std::unordered_set<std::uint64_t> connections{};  // (from, to); never iterated
};

/// Opens the connection between two hosts. Returns whether it was closed before.
bool open_connection(SlowStart& slow_start, int from, int to);

/// Returns what the first message of a connection loses; 0 on a route that is down.
Duration lost_to_windows(Bytes first_window, Bytes size, Bandwidth capacity, Duration round_trip);

}  // namespace paceline
