// What one flow between machines can carry at most, whatever its links could.
//
//   rate      one connection keeps one core of a host busy: copies, checksums, system calls
//   window    at most so many bytes are on their way without an answer, and an answer takes a round
//             trip:
//
//     rate of a flow  <=  min(rate, window / RTT),     RTT = 2 x (latencies of its route)
//
// The bound is that of a flow, not of a link: several flows on one link have it each. Jitter is not
// in the round trip. On a route without latency the window bounds nothing.
//
// Source of the second: TCP's throughput is at most a window per round trip (RFC 7323, section
// 1.1).
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "sim/engine/units.hpp"

namespace paceline {

struct FlowLimits {
    static constexpr Bandwidth unbounded{std::numeric_limits<std::int64_t>::max()};

    Bandwidth rate = unbounded;
    Bytes window{};  // 0: no bound

    [[nodiscard]] bool bound_nothing() const { return rate == unbounded && window == Bytes{}; }

    /// Returns the highest rate of a flow with this round trip, at least 1 bit per second.
    [[nodiscard]] Bandwidth bound(Duration round_trip) const {
        if (window == Bytes{} || round_trip <= Duration::zero()) return rate;
        const double bits_per_second =
            8 * static_cast<double>(window.count) / to_seconds(round_trip);
        if (bits_per_second >= static_cast<double>(rate.bits_per_second)) return rate;
        return {std::max<std::int64_t>(1, static_cast<std::int64_t>(bits_per_second))};
    }
};

}  // namespace paceline
