// Warnings about what a network does to results. Each function returns the text, or nothing if all
// is well.
#pragma once

#include <string>

#include "app/scenario/scenario.hpp"

namespace paceline {

/// The seed draws equal-cost routes, and several may fall on one link. The time of a run then
/// depends on the draw.
std::string depends_on_drawn_routes(const Scenario& scenario);

/// Vectors go around a ring of machines, and its hops differ much in latency.
std::string unlike_hops(const Scenario& scenario);
/// Returns why no validated system is like one whose intervals are asked for.
std::string unlike_validated(const Scenario& scenario);

/// TCP runs over links that one connection does not fill, and nothing bounds a connection.
std::string unbounded_connections(const Scenario& scenario);

/// The all-reduce is "hierarchical", and on this cluster takes the very steps of a ring.
std::string hierarchy_is_a_ring(const Scenario& scenario);

}  // namespace paceline
