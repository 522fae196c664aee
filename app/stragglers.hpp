// The "stragglers" of a cluster: nodes whose gradients take longer than they should.
//
//   {"factor": 4, "share": 0.05}                 any gradient of any node, with probability 0.05
//   {"factor": 4, "nodes": [3]}                  every gradient of node 3
//   {"factor": 4, "nodes": [3], "share": 0.5}    half of them, at random
//
// Whether the k-th gradient of a worker is slow depends on the seed, the worker and k alone, so that
// all algorithms of a study meet the same slow gradients. Only gradients are slowed, nothing else
// that a device computes. No closed form is known then; speedups stay relative to a node that is
// not slow.
#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/cluster.hpp"
#include "app/object_reader.hpp"

namespace paceline {

struct Stragglers {
    double factor = 1;
    double share = 1;          // of the gradients of a node that can be slow
    std::vector<int> nodes{};  // that can be slow; empty: all
};

Keys straggler_keys();

/// Of a cluster of so many nodes. Throws ConfigError.
Stragglers read_stragglers(const Place& place, int nodes);

Slowdown make_slowdown(const Stragglers& stragglers, int devices_per_node, std::uint64_t seed);

}  // namespace paceline
