// The "speeds" of a cluster's nodes, and the "compute_jitter" of their gradients: how nodes differ
// from the workload's own device, permanently and from gradient to gradient. "speeds" is one object
// or a list of objects, whose speeds are multiplied.
//
//   {"kind": "list", "values": [1, 1, 0.5, 2]}          one for each node
//   {"kind": "log-normal", "sigma": 0.3}                drawn once for each node, median 1
//   {"kind": "uniform", "low": 0.5, "high": 1}
//   {"kind": "two-classes", "share": 0.25, "speed": 0.5}
//   {"kind": "device", "device": "k80", "nodes": [0]}   on these nodes a gradient takes as long
//                                                       as it takes on that device; or "share"
//                                                       of them (node_list.hpp)
//
// A speed of 2 halves the time of a gradient and changes nothing else. Jitter is one of {"kind":
// "normal", "deviation": 0.1}, {"kind": "log-normal", "sigma": 0.1}, {"kind": "exponential",
// "excess": 0.1} and {"kind": "pareto", "shape": 3} (sim/compute/node_speeds.hpp defines the laws).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <variant>
#include <vector>

#include "app/json/object_reader.hpp"
#include "app/scenario/cluster/stragglers.hpp"
#include "app/scenario/nodes/node_list.hpp"
#include "sim/compute/node_speeds.hpp"

namespace paceline {

/// A device as a scenario states it.
struct DeviceChoice {
    Place device;                      // its name, or an object that describes it
    std::optional<Place> efficiency;   // the share of its peak that is reached
    std::optional<Place> precision{};  // default: the workload's
};

/// Returns how long a gradient of the workload takes on a device, based on its measured throughput
/// or on the stated share of its peak. Throws ConfigError.
using TimeOnDevice = std::function<Duration(const DeviceChoice& choice)>;

struct NodeSpeeds {
    struct LogNormal {
        double sigma = 0;
    };
    struct Uniform {
        double low = 1;
        double high = 1;
    };
    struct TwoClasses {
        double share = 0;
        double speed = 1;
    };
    struct Stated {
        std::vector<double> speeds;  // one per node
    };

    std::variant<Stated, LogNormal, Uniform, TwoClasses> law;
};

Keys speed_keys();
Keys jitter_keys();

/// Requires that the workload has been read. `gradient` is the time of its gradient on a node of
/// speed 1. Throws ConfigError.
/// Shares of nodes that have a device are drawn and noted in `drawn`.
std::vector<NodeSpeeds> read_speeds(const Place& place, NodeDraw draw, Duration gradient,
                                    const TimeOnDevice& time_on, std::vector<DrawnNodes>& drawn);
Jitter read_jitter(const Place& place);

/// Returns the speed of each node by the i-th object.
std::vector<double> speeds_of_nodes(const std::vector<NodeSpeeds>& all, std::size_t i, int nodes,
                                    std::uint64_t seed);

void add_speeds(const std::vector<NodeSpeeds>& all, const Machines& machines, std::uint64_t seed,
                ComputeParts& into);
void add_jitter(Jitter law, std::uint64_t seed, ComputeParts& into);

}  // namespace paceline
