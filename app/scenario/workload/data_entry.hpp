// One kind of data that a scenario can name, as the tables of generated data and of file formats
// list it.
#pragma once

#include <string_view>

#include "app/json/object_reader.hpp"
#include "models/data/dataset.hpp"
#include "sim/engine/random.hpp"

namespace paceline {

struct DataEntry {
    std::string_view name;
    std::string_view summary;
    Keys keys;
    Dataset (*make)(const ObjectReader& read, int workers, const RandomStreams& streams);
    bool by_worker;  // made for a number of workers, each with a block of its own
};

}  // namespace paceline
