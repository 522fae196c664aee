// Observes a run of one point. run_point reports which process runs on which host, and forwards
// what network and workers report (sim/network/network_observer.hpp,
// algorithms/runtime/worker_observer.hpp).
//
// An observer changes nothing: results are identical to the last byte with and without one.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "algorithms/runtime/worker_observer.hpp"
#include "sim/engine/simulation.hpp"
#include "sim/network/network.hpp"

namespace paceline {

class Cluster;
struct Evaluation;

/// The process that runs on a host of the network.
struct HostRole {
    enum class Kind : std::uint8_t { worker, server, background, nobody };
    Kind kind = Kind::nobody;
    int job = 0;             // 0: the main job, then the others; for background: its number
    std::string job_name{};  // empty: the main job, or background
    int rank = 0;    // in its job, servers after workers; for background: 0 sends, 1 receives
    int node = 0;    // machine within its job, the same for all hosts of the machine
    int device = 0;  // device within its machine
};

/// The simulated machine, before anything happens on it.
struct Machine {
    const Simulation& simulation;
    const Network& network;
    std::vector<HostRole> hosts;  // [host]
    /// Returns a link's name, as paceline explain gives it.
    std::function<std::string(LinkId link)> link_name;
};

struct Observer {
    /// Called once, at time 0.
    std::function<void(const Machine& machine)> begins{};
    NetworkObserver network{};
    WorkerObserver workers{};  // of all jobs
    /// Called after each evaluation of the main job, which training alone has.
    std::function<void(const Evaluation& evaluation)> evaluated{};
    /// Called once, when the run is over, with the main job.
    std::function<void(const Cluster& cluster)> ends{};
};

/// Returns an observer that passes everything on to both, in this order. It wants each message.
NetworkObserver both(const NetworkObserver& first, const NetworkObserver& second);

}  // namespace paceline
