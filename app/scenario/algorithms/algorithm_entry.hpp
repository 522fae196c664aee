// A row of the table of algorithms. Each family has a table (families.hpp).
//
// The options of an algorithm are the properties of its definition in scenario.schema.json, which
// has the algorithm's name. The reader can ask for no other key, and a test checks that it reads
// all of them.
#pragma once

#include <span>
#include <string_view>

#include "app/json/object_reader.hpp"
#include "app/scenario/aggregations/all_reduces.hpp"
#include "app/scenario/aggregations/exchange_rules.hpp"
#include "app/scenario/algorithms/algorithm_choice.hpp"
#include "app/scenario/algorithms/optimizer.hpp"

namespace paceline {

/// What an algorithm's options depend on.
struct AlgorithmInput : WorkerShape {
    Optimizer optimizer{};                 // for runs that train
    Feature exchanges = Feature::nothing;  // that of its row, which read_algorithm sets
    double steps_per_epoch = 0;            // 0: not known
    bool shards_are_even = true;           // if anything is trained
    Features around{};                     // features of what the algorithm is run on
};

struct AlgorithmEntry {
    std::string_view name;
    std::string_view summary;
    std::string_view paper;  // paper, venue, year; or the released code that is followed
    Feature exchanges;       // what is exchanged, and the step that follows (exchange_rules.hpp)
    AlgorithmChoice (*read)(const ObjectReader& read, const AlgorithmInput& in);
    AlgorithmTraits traits;
};

/// A family is a page of docs/algorithms, of the same name.
struct AlgorithmFamily {
    std::string_view name;
    std::string_view summary;
    std::span<const AlgorithmEntry> algorithms;
    double vectors;  // of the model's size that a worker holds where it trains, as measured
};

}  // namespace paceline
