// The content of a trace: its machines, and what they did and when.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/engine/simulation.hpp"
#include "sim/network/network.hpp"

namespace paceline {

/// A machine, or an endpoint of background traffic: a process of the trace.
struct TraceProcess {
    std::string name;
    bool chosen = true;
    bool of_main_job = true;
    int devices = 1;
    int job = 0;  // processes of one job send to each other
};

struct TraceHost {
    int process = -1;  // -1: the host is unused
    int device = 0;
    bool takes_steps = false;
};

struct TraceMachine {
    const Simulation* simulation;
    const Network* network;
    std::vector<TraceProcess> processes;
    std::vector<TraceHost> hosts;  // of the network
    std::function<std::string(LinkId link)> link_name;
};

enum class TraceTrack : std::uint8_t { steps, compute, rounds, waiting };

struct TraceSlice {
    Time begin;
    Time end = never;  // `never` while it is in progress
    int host = 0;
    TraceTrack track = TraceTrack::steps;
    std::string_view name;                 // a literal
    std::optional<std::int64_t> number{};  // printed after the name
    std::optional<Stream> stream{};
    bool cut = false;
};

struct TraceMessage {
    Time begin;
    Time first_byte;  // leaves; later than `begin` if links are down or lose what has flowed
    Time drained = never;
    Time arrived = never;
    int from = 0;
    int to = 0;
    Stream stream = 0;
    Bytes size;
    Bytes sent;  // less if its sender died
    Duration latency{};
    int restarts = 0;
    bool lost = false;
    bool shows_sender = false;
    bool shows_receiver = false;
    bool cut = false;  // the run or the trace ended before it arrived
};

struct TraceUse {
    Time at;
    LinkId link = 0;
    std::int32_t millionths = 0;
};

/// A link's use, shown with a machine or, if process is -1, with the links.
struct TraceCounter {
    int process = -1;
    std::string name;
};

}  // namespace paceline
