// One job for two simulators: messages on the wires of a fabric, played by paceline's network and,
// in a process of its own, by SimGrid.
//
// Both use the links and the routes of the one fabric. Where the models differ:
//   - Latency. In CM02 a message waits for the latency of its route and then flows; ours flows at
//     once and is delivered one latency after it has drained. If all routes have the same latency,
//     the one is the other shifted by it, and messages that start at given times are delivered at
//     the same times, contention included. If they differ, other flows overlap.
//   - Shares. SimGrid weighs flows by 1 / latency of their routes (as TCP does), ours are even.
//     Equal latencies, or none, make them even there, too.
//   - A sender is free when its message has drained (ours) or is delivered (SimGrid). Messages that
//     wait for others are the same jobs only without latency.
// So latency lies in the hosts' cables alone, and where messages wait there is none.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/network/fabric.hpp"

namespace paceline {

struct PlannedMessage {
    Duration start{};
    int from = 0;
    int to = 0;
    Bytes size;
    std::vector<std::size_t> after;  // messages of lower numbers that must be delivered before
};

struct Plan {
    Fabric fabric;
    std::vector<PlannedMessage> messages;
};

/// What tests/simgrid/simgrid_messages.cpp reads.
std::string description(const Plan& plan);

/// When each message is delivered in SimGrid, in seconds. Throws if its process fails.
std::vector<double> play_in_simgrid(const Plan& plan);

/// The same in paceline: eager messages, each on a stream of its own. Requires that none waits for
/// another.
std::vector<double> play(const Plan& plan);

}  // namespace paceline
