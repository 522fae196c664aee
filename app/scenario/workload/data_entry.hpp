// One kind of data that a scenario can name, as the tables of generated data and of file formats
// list it.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "app/json/object_reader.hpp"
#include "models/data/dataset.hpp"
#include "sim/engine/random.hpp"

namespace paceline {

/// A data set that can be made, and made again.
struct DataPlan {
    DataShape shape;
    std::function<Dataset()> make;  // throws ConfigError
    std::optional<Dataset> made{};  // if it had to be made to know its shape
    bool is_generated = true;       // not read from files
    std::vector<int> groups{};      // of the training samples, if a column names them
};

struct DataEntry {
    std::string_view name;
    std::string_view summary;
    Keys keys;
    // Checks all options. Throws ConfigError.
    DataPlan (*plan)(const ObjectReader& read, int workers, const RandomStreams& streams);
    bool by_worker;  // made for a number of workers, each with a block of its own
};

}  // namespace paceline
