// The islands of a method (algorithms/islands/islands.hpp): its "islands" and "inside".
//
//   "islands": "machine",                        devices of each machine train one replica; or of
//                                                a level of the cluster, such as "region"
//   "islands": {"level": "machine", "by": "leaders"},
//   "inside": {"kind": "zero", "stage": 3}       by this method; default: dense
//
// The outer method is read as if its workers were the islands, one on a machine of its own.
#pragma once

#include <optional>

#include "algorithms/islands/islands.hpp"
#include "app/scenario/algorithms/algorithm_entry.hpp"

namespace paceline {

struct IslandsChoice {
    IslandOptions options;
    AlgorithmInput outer;    // what the options of the outer method depend on
    AlgorithmChoice inside;  // of the largest island
    int devices = 1;         // of the largest island
    bool led = false;        // by their first devices (algorithms/islands/led_islands.hpp)
};

/// Returns nothing if every device is a worker. Throws ConfigError.
std::optional<IslandsChoice> read_islands(const Place& algorithm, const AlgorithmEntry& entry,
                                          const AlgorithmInput& in);

/// Makes an outer method that has been read one whose workers are islands.
void put_on_islands(const IslandsChoice& islands, AlgorithmChoice& choice);

}  // namespace paceline
