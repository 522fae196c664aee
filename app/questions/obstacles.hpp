// What can make a step longer than its computing, and the ladder of scenarios that removes one such
// obstacle after another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/scenario/scenario.hpp"

namespace paceline {

/// The obstacles in the order of their removal, followed by what is left.
enum class Obstacle : std::uint8_t {
    other_traffic,
    failures,
    unlike_nodes,
    unsteady_links,
    protocol,
    library,
    latency,
    core,
    serialization,
    servers,
    buses,
    idle,
    coding,
    compute,
    not_attributed,  // no obstacle: the time of those whose runs failed
};

/// How texts name an obstacle.
struct ObstacleNames {
    Obstacle what;
    std::string_view name;
    std::string_view key;
    std::string_view verdict;  // "... bound"
    std::string_view meaning;  // "is ..."
};

const ObstacleNames& naming_of(Obstacle what);

/// Returns the name in texts ("waiting for the slowest"), or the key in JSON
/// ("waiting_for_slowest").
std::string name_of(Obstacle obstacle);
std::string key_of(Obstacle obstacle);

/// The scenario without an obstacle, and without those of the steps before.
struct LadderStep {
    std::optional<Obstacle> without;
    Scenario scenario;
};

/// Begins with the scenario as it is. An obstacle that the scenario does not have gets no step.
std::vector<LadderStep> ladder_of(const Scenario& as_it_is);

/// Returns the last rung up to the one that makes nodes alike.
std::size_t rung_of_alike_nodes(const std::vector<LadderStep>& ladder);

}  // namespace paceline
