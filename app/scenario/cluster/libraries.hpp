// The "library" of a cluster: what carries out the collectives of its jobs.
#pragma once

#include "app/json/object_reader.hpp"
#include "app/scenario/algorithms/algorithm_choice.hpp"
#include "sim/collectives/library.hpp"

namespace paceline {

Keys library_keys();

/// Throws ConfigError.
Library read_library(const Place& place);

/// Throws ConfigError at the algorithm's place if it has collectives for which staging is not modeled.
void check_staging(const Place& algorithm, const Library& library, const AlgorithmChoice& choice);

}  // namespace paceline
