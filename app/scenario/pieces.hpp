// How many pieces a step exchanges: what a run takes memory for, whatever it is that travels.
#pragma once

#include "app/json/object_reader.hpp"
#include "app/scenario/algorithms/algorithm_choice.hpp"
#include "models/tensors/layout.hpp"

namespace paceline {

/// Returns the most pieces in which each worker exchanges a gradient: buckets, and the partitions
/// that they are cut into. It exceeds the number itself by fewer than the tensors, where they are
/// larger than buckets.
std::int64_t most_pieces(const AlgorithmChoice& algorithm, const Layout& layout);

/// Throws ConfigError if partitions are so small that a step has more than ten million pieces.
void check_pieces(const AlgorithmChoice& choice, const Layout& layout, int workers,
                  const Place& algorithm);

}  // namespace paceline
