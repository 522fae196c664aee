// Scenarios of what can be measured on a cluster: one collective, or a step on fewer nodes.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/questions/calibrate/measured_collectives.hpp"
#include "app/scenario/study.hpp"

namespace paceline {

/// The scenario that rows are about, as the command line has changed it.
struct MeasuredScenario {
    const ScenarioText& scenario;
    const Settings& settings;
    const Picks& picks;
};

/// Returns the point that the scenario describes, as JSON: axes that still have several values are
/// left out. Throws ConfigError.
Json base_of(const MeasuredScenario& about);

/// Returns the scenario of one collective on this cluster, for one step. `machines` and `ranks` are
/// empty where the cluster's own numbers hold. Throws ConfigError if the ranks do not fill the
/// machines.
Json collective_scenario(const Json& base, const MeasuredCollective& measured);

/// A measurement that could be made.
struct Trial {
    std::string what;   // in words: "the step on 1 node"
    std::string asked;  // as `paceline diagnose --measured` takes it: "nodes=1:step"
    std::shared_ptr<const Json> scenario;
    bool is_a_collective = false;
};

/// Returns a message from one machine to another, and all-reduces on two and on all of so many
/// nodes, each of four sizes.
std::vector<Trial> collective_trials(const Json& base, int nodes);

/// Returns the scenario's own step on one, two and all nodes; nothing if it has no such step.
std::vector<Trial> step_trials(const Json& base, int nodes);

}  // namespace paceline
