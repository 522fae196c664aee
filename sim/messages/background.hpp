// Background traffic: messages from other senders over links that a run also uses.
//
// It consists of ordinary messages, so links are shared max-min fairly with it. A source sends
// messages of one size back to back, but no faster than its rate R: the next message begins once
// the last one has drained, and at least size/R after the last one began. On links that leave it R
// or more, it has the rate R. Smaller messages make the traffic smoother.
//
// An on-off source sends while it is on and is silent while it is off. A message that is in flight
// when it goes off is sent to its end. Times on and off are either fixed, starting with "on" at
// time 0, or exponential with the given means. In the latter case the source is on at time 0 with
// probability on/(on + off), as at any other time. Mean share of time on: on/(on + off).
//
// Run it as a daemon (Processes): it never ends, and must not keep a run alive.
#pragma once

#include "sim/engine/random.hpp"
#include "sim/engine/task.hpp"
#include "sim/engine/units.hpp"
#include "sim/network/network_part.hpp"

namespace paceline {

struct BackgroundSource {
    Bandwidth rate;
    Bytes message;
    Duration on = Duration::max();  // mean, if drawn
    Duration off{};
    bool drawn = false;  // times on and off are drawn; else fixed
};

/// Sends from one host to another, forever. Sources between the same two hosts take turns, so give
/// each its own hosts (topologies/fabrics/placed.hpp). Requires a rate, a message size and a time
/// on above 0.
Task<> background_traffic(NetworkPart network, int from, int to, BackgroundSource source,
                          RandomStream random);

}  // namespace paceline
