// What the references of SwarmSGD share: nodes that draw a neighbor after a burst of local steps.
#pragma once

#include <vector>

#include "sim/engine/random.hpp"
#include "tests/papers/clocks.hpp"

namespace paceline::papers {

struct SwarmNodes {
    const Setting& s;
    const Json& options;
    Clocks clocks{s};
    Models x = s.starts(), z = x, m = Models::Zero(entries, s.nodes);
    std::vector<RandomStream> random = streams(s);
    std::vector<std::int64_t> burst =
        std::vector<std::int64_t>(s.pace.size());  // steps taken in it
    History history = without_models(s);

    /// The product's stream of a node, from which its partners are drawn.
    static RandomStream stream(const Setting& s, int node);
    static std::vector<RandomStream> streams(const Setting& s);
    /// Draws a neighbor, whether it is there or not.
    int partner(int i);
    /// Takes the step that node i has finished, at the model z as it began. Returns whether it ends
    /// a burst.
    bool step(int i);
    /// Notes node i's model after its steps and begins the next one.
    void go_on(int i);
    /// Gives a node that has joined a new momentum, burst and stream.
    void join(int i);
};

/// Runs of the blocking mode (blocking_swarm.cpp).
std::vector<Case> blocking_swarm_cases();

/// Six nodes of different speed on a ring.
Setting uneven_ring();

}  // namespace paceline::papers
