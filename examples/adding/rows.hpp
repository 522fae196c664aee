// The rows of the examples, as the tables of app/scenario would have them.
#pragma once

#include <span>

#include "app/scenario/algorithms/algorithm_entry.hpp"
#include "app/scenario/cluster/fabrics.hpp"
#include "app/scenario/workload/models.hpp"

namespace paceline {

std::span<const AlgorithmEntry> example_algorithms();
std::span<const FabricEntry> example_fabrics();
std::span<const ModelEntry> example_models();

}  // namespace paceline
