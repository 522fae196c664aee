// One job for two simulators: messages on the links of a fabric, simulated by paceline's network
// and, in a separate process, by SimGrid.
//
// Both use the links and the routes of the same fabric. The models differ in three ways:
//   - Latency. In CM02 a message waits for the latency of its route and then flows. Ours flows at
//     once and is delivered one latency after it has drained. If all routes have the same latency,
//     one is the other shifted by it: messages that start at given times are delivered at the same
//     times, contention included. If latencies differ, other flows overlap.
//   - Shares. SimGrid weighs flows by 1 / latency of their routes (as TCP does); ours are even.
//     With equal latencies or none, SimGrid's are even, too.
//   - A sender is free when its message has drained (ours) or is delivered (SimGrid). With messages
//     that wait for others, the jobs are the same only without latency.
// Therefore only the hosts' cables have latency, and where messages wait there is none.
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

/// Returns when each message is delivered in SimGrid, in seconds. Throws if its process fails.
std::vector<double> play_in_simgrid(const Plan& plan);

/// Returns the same for paceline: eager messages, each on its own stream. Requires that none waits
/// for another.
std::vector<double> play(const Plan& plan);

}  // namespace paceline
