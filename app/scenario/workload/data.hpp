// The "data" of a workload: a generator or files, and how the training samples are distributed to
// workers. When the scenario is read, files are loaded and all options checked, so that errors are
// reported before anything runs. Data are generated when a run needs them. Points of a study with
// the same description share the data.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/json/object_reader.hpp"
#include "app/scenario/workload/data_entry.hpp"
#include "models/data/data_sets.hpp"
#include "models/data/partition.hpp"
#include "sim/engine/random.hpp"

namespace paceline {

struct DataChoice {
    DataShape shape;
    std::string name;
    std::string identity;  // what the data are made from; equal data have equal ones
    /// Makes the data or finds them (data_sets.hpp). Throws ConfigError.
    std::function<DataSetPtr()> set;
    bool is_generated = true;     // not read from files
    bool shards_are_even = true;  // their sizes differ by at most one sample
    /// Returns the shards of this many workers.
    std::function<Shards(int workers, const RandomStreams&)> deal;
};

/// Returns every kind of data, by name.
std::vector<DataEntry> data_table();
Keys partition_keys();

/// Throws ConfigError.
DataChoice read_data(const Place& place, int workers, std::uint64_t seed);

}  // namespace paceline
