// Callbacks for watching a network (Network::observe): the life of each message on the wires.
//
//     begins -> rate* -> drains -> arrives
//
//   - A message is identified by a number that is unique from `begins` until `arrives`. After that,
//     another message may reuse it.
//   - `begins`: the message sets out, after waiting for its lane, its receiver (rendezvous), the
//     sender's overhead and slow start. The route is that of all its bytes. It leaves out unlimited
//     links and is empty for a message of 0 bytes. A message that is taken back before that (its
//     sender's host leaves, or its lane is closed) never begins.
//   - `rate`: its share has changed, in bytes per picosecond, valid from this instant on. Reported
//     at the end of an instant, after everything else in it. 0 while a link of its route is down.
//     Not called for a message of 0 bytes or one that crosses only unlimited links.
//   - `restarts`: what has flowed is lost. It flows anew from its first byte, at rate 0 until
//     `rate`.
//   - `drains`: the links are free of it. Gives the bytes that have left the host: fewer than at
//     `begins` if the host died on the way.
//   - `arrives`: it is delivered, or discarded because its receiver has died or its lane has been
//     closed; `lost` is true if its sender has died. Each message that begins arrives.
//   - `capacity`: the bandwidth of a link has changed. Gives the rate available to payload from now
//     on.
//
//   - `carries`: an observer that sets it lets links be reserved (sim/network/reservations.hpp).
//     Messages over reserved links are reported as sums: bytes that have drained over a route, and
//     the time for which they were on it. No other callback is made for these messages, but for
//     those that are in flight when their links are given back: `begins`, with the time at which
//     they set out, for what has not drained, and what follows it; `arrives` for the others.
//
// Host and link numbers are those of the whole network, across all jobs. All calls come from the
// simulation's event loop, in the order in which things happen; the time is the simulation's now().
// Each callback may be empty. An observer must not change anything, and must outlive the network's
// last event.
//
// Cost without an observer: one branch at each of these events, none per link.
#pragma once

#include <cstdint>
#include <functional>

#include "sim/engine/units.hpp"
#include "sim/network/fabric.hpp"
#include "sim/network/stream.hpp"

namespace paceline {

struct NetworkObserver {
    struct Message {
        int from = 0;
        int to = 0;
        Stream stream = 0;
        Bytes size;
        Duration latency{};  // from draining to arrival; longer if it keeps a lane in order
        const Route& route;
        Time since{};  // when it set out
    };

    std::function<void(std::uint32_t id, const Message& message)> begins{};
    std::function<void(std::uint32_t id, double bytes_per_ps)> rate{};
    std::function<void(std::uint32_t id)> restarts{};
    std::function<void(std::uint32_t id, Bytes sent)> drains{};
    std::function<void(std::uint32_t id, bool lost)> arrives{};
    std::function<void(LinkId link, Bandwidth capacity)> capacity{};
    std::function<void(const Route& route, Bytes bytes, Duration busy)> carries{};
};

/// Calls `function` if it is set.
template <class Function, class... Arguments>
void notify(const Function& function, const Arguments&... arguments) {
    if (function) function(arguments...);
}

}  // namespace paceline
