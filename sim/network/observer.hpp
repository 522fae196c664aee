// What a network tells whoever watches it (Network::observe): the life of each message on the wires.
//
//     begins -> rate* -> drains -> arrives
//
//   - A message is named by a number that is its own from `begins` until `arrives`; then another one
//     may have it.
//   - `begins` when it sets out: after its lane, its receiver (rendezvous), the sender's overhead and
//     slow start have let it. Its route is that of all its bytes; one of 0 bytes has none, and unlimited links are in
//     none. What its
//     sender's death caught before it set out begins with 0 bytes, and is lost.
//   - `rate` when its share changes, in bytes per picosecond, from this instant on; at the end of an
//     instant, when all of it has happened. 0 while a link of its way is down. A message of 0 bytes
//     has none.
//   - `restarts` when what has flowed is lost: it flows anew, from its first byte, at rate 0 until told.
//   - `drains` when the links are free of it, with the bytes that have left the host: fewer than
//     began if the host died on the way.
//   - `arrives` when it is delivered, or would have been: lost is what a dead host has sent.
//   - `capacity` when the bandwidth of a link changes: what payload can have of it from now on.
//
// Hosts and links are those of the network, all jobs together. All calls come from the event loop of
// the simulation, in the order in which things happen, and the time is its now(). Each member may be
// left empty. A watcher changes nothing, and outlives the network's last event.
//
// Cost: where nobody watches, a branch at each of these events, none per link.
#pragma once

#include <cstdint>
#include <functional>

#include "sim/engine/units.hpp"
#include "sim/network/fabric.hpp"
#include "sim/network/mailboxes.hpp"

namespace paceline {

struct NetworkObserver {
    struct Message {
        int from = 0;
        int to = 0;
        Stream stream = 0;
        Bytes size;
        Duration latency{};  // from draining to arrival; messages of a lane wait for one another
        const Route& route;
    };

    std::function<void(std::uint32_t id, const Message& message)> begins{};
    std::function<void(std::uint32_t id, double bytes_per_ps)> rate{};
    std::function<void(std::uint32_t id)> restarts{};
    std::function<void(std::uint32_t id, Bytes sent)> drains{};
    std::function<void(std::uint32_t id, bool lost)> arrives{};
    std::function<void(LinkId link, Bandwidth capacity)> capacity{};
};

/// Calls what is there.
template <class Function, class... Arguments>
void tell(const Function& function, const Arguments&... arguments) {
    if (function) function(arguments...);
}

}  // namespace paceline
