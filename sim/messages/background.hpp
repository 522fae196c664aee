// Background traffic: what others send over links that a run uses too.
//
// It is made of messages like any other, so links are shared max-min fairly with it. A source sends
// messages of one size back to back, and no faster than its rate R: the next one begins when the
// last has drained, and no sooner than size/R after the last one began. On links that leave it R or
// more it has the rate R; a smaller message makes it smoother.
//
// An on-off source does so while it is on and is silent while it is off; a message that is under way
// when it goes off is sent to its end. Times on and off are fixed, from "on" at time 0, or drawn
// from exponential laws with these means, in which case it is on at time 0 with probability
// on/(on + off), as at any other time. Mean share of the time: on/(on + off).
//
// Run it as a daemon (Processes): it never ends, and does not keep a run alive.
#pragma once

#include "sim/engine/random.hpp"
#include "sim/engine/task.hpp"
#include "sim/engine/units.hpp"
#include "sim/network/network_part.hpp"

namespace paceline {

struct BackgroundSource {
    Bandwidth rate;
    Bytes message;
    Duration on = Duration::max();  // the mean, if drawn
    Duration off{};
    bool drawn = false;  // times on and off; else fixed
};

/// Sends from one host to another, for ever. Sources between the same two hosts take turns: give
/// each hosts of its own (topologies/fabrics/placed.hpp). Requires a rate, a message and a time on
/// above 0.
Task<> background_traffic(NetworkPart network, int from, int to, BackgroundSource source,
                          RandomStream random);

}  // namespace paceline
