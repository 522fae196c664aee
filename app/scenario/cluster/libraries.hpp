// The "library" of a cluster: what carries out the collectives of its jobs.
//
// A preset (app/scenario/cluster/libraries.json), or figures, or a preset with some of its figures
// replaced.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/json/object_reader.hpp"
#include "app/scenario/aggregations/all_reduces.hpp"
#include "app/scenario/algorithms/algorithm_choice.hpp"
#include "sim/collectives/library.hpp"

namespace paceline {

Keys library_keys();

/// A library, and the all-reduce that "all_reduce": "library" stands for.
struct LibraryChoice {
    Library library{};
    AllReducePlan all_reduce{};
};

struct LibraryPreset {
    std::string name;
    LibraryChoice choice;
    std::string source;
};

/// Returns the name of a protocol, as scenarios write it.
std::string_view name_of(Protocol protocol);

/// Returns all presets, in the order of the file, for these workers.
std::vector<LibraryPreset> library_presets(const WorkerShape& shape = {.nccl = Nccl{}});

/// Reads the name of a preset, or an object. Throws ConfigError.
LibraryChoice read_library(const Place& place, const WorkerShape& shape);

/// Throws ConfigError at the algorithm's place if it has collectives for which staging or sums of
/// the host are not modeled.
void check_host_work(const Place& algorithm, const Library& library, const AlgorithmChoice& choice);

}  // namespace paceline
