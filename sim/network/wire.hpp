// What a route does to messages that have its links to themselves.
//
//   time(S) = o + ceil(S / C)    from setting out until the last byte has left
//   L                            from then until delivery
//
// with o the sender's overhead, which messages inside a machine do not have, C the smallest
// capacity of the route, the bounds of loss and of the transport included, and L the sum of
// latencies. A message of 0 bytes, and one that crosses only unlimited links, takes no time but o.
// A wire that is down has no time; ask `is_down` first.
//
// A route is often the sender's half (its way up) followed by the receiver's (its way down). Then
// joined() gives its wire without a look at its links.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "sim/engine/units.hpp"

namespace paceline {

/// Returns a rate in bytes per picosecond, as the network solves for rates.
[[nodiscard]] constexpr double bytes_per_tick(Bandwidth rate) {
    return static_cast<double>(rate.bits_per_second) / (8.0 * Duration::period::den);
}

/// What each message of a collective costs beside its time on the wire, by where it leads: the work
/// of a library's kernels and threads for one slice.
struct MessageCost {
    struct ByPlace {
        Duration inside{};   // the machine
        Duration between{};  // machines

        [[nodiscard]] constexpr Duration of(bool apart) const { return apart ? between : inside; }
    };
    ByPlace occupies{};  // the connection, before the message flows, behind the overhead
    ByPlace delays{};    // the delivery, while the next message flows
};

/// What is left of a flow that shares links, at the last change of its rate.
struct FlowProgress {
    Time since{};
    double remaining = 0;  // bytes
    double rate = 0;       // bytes per picosecond
};

struct Wire {
    Bandwidth slowest{std::numeric_limits<std::int64_t>::max()};
    Duration latency{};
    Duration overhead{};
    bool is_unlimited = true;
    bool is_down = false;  // a link of the route is
    bool apart = false;    // it leads to another machine

    [[nodiscard]] Duration time(Bytes size) const {
        if (is_unlimited || is_down || size == Bytes{0}) return overhead;
        return sum(overhead, size / slowest);
    }
    /// Whether a message is delivered in the instant in which it sets out.
    [[nodiscard]] bool takes_no_time() const {
        return is_unlimited && overhead == Duration::zero() && latency == Duration::zero();
    }
};

/// Returns the wire of a route that consists of two halves. The overhead and `apart` are those of
/// `first`.
inline Wire joined(const Wire& first, const Wire& second) {
    return {std::min(first.slowest, second.slowest),
            sum(first.latency, second.latency),
            first.overhead,
            first.is_unlimited && second.is_unlimited,
            first.is_down || second.is_down,
            first.apart};
}

}  // namespace paceline
