// A mixing whose edges, and optionally weights, are given in the scenario.
#pragma once

#include "app/json/object_reader.hpp"
#include "topologies/mixing/mixing.hpp"

namespace paceline {

enum class GraphWeights { metropolis, uniform, max_degree };

/// What an algorithm does with a mixing. Averages need a doubly stochastic W; push-sum makes its
/// own weights and takes only the edges.
enum class MixingUse { averages, edges };

/// Reads a mixing from "edges", "directed" and the requested weights. Throws ConfigError if W is
/// for averages and would not be doubly stochastic. Requires that `read` has "edges".
Mixing read_explicit_mixing(const ObjectReader& read, int workers, MixingUse use);

/// Reads "weights": "metropolis", "uniform" or "max-degree".
GraphWeights as_graph_weights(const Place& place);

/// Refuses W at `place` unless all its columns sum to 1.
void check_columns(const Mixing& mixing, const Place& place);

}  // namespace paceline
