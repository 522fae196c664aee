// Who watches a run of one point: run_point tells it who stands where, and hands on what network
// and workers tell (sim/network/observer.hpp, algorithms/observer.hpp).
//
// A watcher changes nothing: results are the same to the last byte with one and without.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "algorithms/observer.hpp"
#include "sim/engine/simulation.hpp"
#include "sim/network/network.hpp"

namespace paceline {

/// Who stands on a host of the network.
struct HostRole {
    enum class Kind : std::uint8_t { worker, server, background, nobody };
    Kind kind = Kind::nobody;
    int job = 0;             // 0: the main one, then the others; of background: its number
    std::string job_name{};  // empty: the main one, or background
    int rank = 0;    // in its job, servers behind the workers; of background: 0 sends, 1 takes
    int node = 0;    // of its job: the machine; hosts of one machine have the same
    int device = 0;  // of its machine
};

/// The simulated machine, before anything happens on it.
struct Machine {
    const Simulation& simulation;
    const Network& network;
    std::vector<HostRole> hosts;  // [host]
};

struct Observer {
    /// Called once, at time 0.
    std::function<void(const Machine& machine)> begins{};
    NetworkObserver network{};
    WorkerObserver workers{};  // of all jobs
    /// Called once, when the run is over.
    std::function<void()> ends{};
};

}  // namespace paceline
