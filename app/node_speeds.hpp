// The "speeds" of a cluster's nodes, and the "compute_jitter" of their gradients: how nodes differ
// from the workload's own device, always and from gradient to gradient. One object of speeds, or a
// list of objects, which are multiplied.
//
//   {"kind": "list", "values": [1, 1, 0.5, 2]}          one for each node
//   {"kind": "log-normal", "sigma": 0.3}                drawn once for each node, median 1
//   {"kind": "uniform", "low": 0.5, "high": 1}
//   {"kind": "two-classes", "share": 0.25, "speed": 0.5}
//   {"kind": "device", "device": "k80", "nodes": [0]}   a gradient takes on these nodes what it
//                                                       takes on that device
//
// A speed of 2 halves the time of a gradient; nothing else is changed by it. Jitter: {"kind":
// "normal", "deviation": 0.1}, {"kind": "log-normal", "sigma": 0.1}, {"kind": "exponential",
// "excess": 0.1}, {"kind": "pareto", "shape": 3} (sim/compute/node_speeds.hpp has the laws).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <variant>
#include <vector>

#include "app/object_reader.hpp"
#include "app/stragglers.hpp"
#include "sim/compute/node_speeds.hpp"

namespace paceline {

/// How long a gradient of the workload takes on the device that is named at a place, by its measured
/// throughput or at the stated share of its peak. Throws ConfigError.
using TimeOnDevice =
    std::function<Duration(const Place& device, const std::optional<Place>& efficiency)>;

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
        std::vector<double> speeds;  // of each node
    };

    std::variant<Stated, LogNormal, Uniform, TwoClasses> law;
};

Keys speed_keys();
Keys jitter_keys();

/// The workload is known, and what it takes on the nodes as they should be. Throws ConfigError.
std::vector<NodeSpeeds> read_speeds(const Place& place, int nodes, Duration gradient,
                                    const TimeOnDevice& time_on);
Jitter read_jitter(const Place& place);

void add_speeds(const std::vector<NodeSpeeds>& all, Machines machines, std::uint64_t seed,
                ComputeParts& into);
void add_jitter(Jitter law, std::uint64_t seed, ComputeParts& into);

}  // namespace paceline
