// The "stragglers" of a cluster: nodes whose gradients take longer than they should. This is one
// object, or a list of objects whose factors are multiplied.
//
//   {"factor": 4, "share": 0.05}                      any gradient of any node, probability 0.05
//   {"factor": 4, "nodes": [3]}                       every gradient of node 3
//   {"factor": 4, "nodes": [3], "share": 0.5}         half of them, at random
//   {"factor": 4, "one_node": true}                   in every step one node, drawn at random
//   {"factor": 4, "one_node": true, "share": 0.1}     the same in a tenth of the steps
//   {"factor": 4, "every": 10, "first": 5}            gradients 5, 15, 25, ... of any node
//   {"factor": 4, "period": "60s", "for": "5s"}       5 s of every minute ("begin" moves the first)
//   {"factor": 4, "mean_between": "60s", "mean_length": "5s"}   at random intervals of each node
//
// Which gradients are slow depends on the seed alone, so that all algorithms of a study meet the
// same ones (sim/compute/slow_nodes.hpp defines the laws). Only gradients are slowed, nothing else
// that a device computes. No closed form is known with stragglers. Speedups stay relative to a node
// that is not slow.
// slow.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "app/json/object_reader.hpp"
#include "sim/compute/slow_nodes.hpp"

namespace paceline {

struct Stragglers {
    struct AtRandom {
        double share = 1;
        bool one_node = false;
    };
    struct EverySteps {
        std::int64_t every = 1;
        std::int64_t first = 0;
    };
    struct EveryPeriod {
        Duration period{};
        Duration length{};
        Duration begin{};
    };

    double factor = 1;
    std::vector<int> nodes{};  // that can be slow, in increasing order; empty: all
    std::variant<AtRandom, EverySteps, EveryPeriod, RandomIntervals> when{AtRandom{}};
};

Keys straggler_keys();

/// Reads the stragglers of a cluster with this many nodes. Throws ConfigError.
std::vector<Stragglers> read_stragglers(const Place& place, int nodes);

/// Returns the elements of a list, or the one object that stands for a list of one. Throws
/// ConfigError.
std::vector<Place> one_or_several(const Place& place);

/// The machines of a cluster.
struct Machines {
    int nodes = 1;
    MachineSizes sizes{};
};

void add_stragglers(const std::vector<Stragglers>& all, const Machines& machines,
                    std::uint64_t seed, ComputeParts& into);

}  // namespace paceline
