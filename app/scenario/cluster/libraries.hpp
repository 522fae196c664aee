// The "library" of a cluster: what carries out the collectives of its jobs.
#pragma once

#include "app/json/object_reader.hpp"
#include "sim/collectives/library.hpp"

namespace paceline {

Keys library_keys();

/// Throws ConfigError.
Library read_library(const Place& place);

}  // namespace paceline
