// How gradients and parameters are sharded: options of "zero", and of islands that train by it.
#pragma once

#include "algorithms/dense/zero.hpp"
#include "app/scenario/algorithms/algorithm_entry.hpp"

namespace paceline {

/// Reads "stage", "reduce", "prefetch" and "unit", and sets what the job needs for them.
void read_sharding(const ObjectReader& read, const AlgorithmInput& in, ZeroOptions& options,
                   AlgorithmChoice& choice);

/// Sets bytes, time, messages and memory of a step.
void cost_sharding(AlgorithmChoice& choice, const ZeroOptions& options);

}  // namespace paceline
