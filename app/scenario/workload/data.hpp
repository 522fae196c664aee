// The "data" of a workload: a generator or files, and how the training samples are distributed to
// workers. Data are generated or loaded when the scenario is read, so that errors are reported
// before anything runs. Points of a study with the same description share the data.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/json/object_reader.hpp"
#include "app/scenario/workload/data_entry.hpp"
#include "models/data/dataset.hpp"
#include "models/data/partition.hpp"
#include "sim/engine/random.hpp"

namespace paceline {

struct DataChoice {
    std::shared_ptr<const Dataset> set;
    std::string name;
    bool shards_are_even = true;  // their sizes differ by at most one sample
    /// Returns the shards of this many workers.
    std::function<Shards(int workers, const RandomStreams&)> deal;
};

/// Returns every kind of data, by name.
std::vector<DataEntry> data_table();
Keys partition_keys();

/// A data set that is not made yet: the text that it goes by on the shelf, and how to make it.
struct DataWish {
    std::string key;
    std::function<Dataset()> make;  // throws ConfigError
};

/// Returns what read_data would make or find. The place must outlive the result. Throws ConfigError.
DataWish data_wish(const Place& place, int workers, std::uint64_t seed);

/// Throws ConfigError.
DataChoice read_data(const Place& place, int workers, std::uint64_t seed);

}  // namespace paceline
