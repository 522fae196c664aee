// Reads the "levels" of an aggregation: which levels of the cluster it goes by, and how.
//
//   "levels": {"level": "machine", "by": "shards"}
//   "levels": [{"level": "machine", "by": "shards"}, {"level": "region", "by": "leaders"}]
//
// A list goes from the finest to the coarsest, each within the next. "machines": "shards" is short
// for the first example.
#pragma once

#include "algorithms/coders/aggregation.hpp"
#include "app/json/object_reader.hpp"
#include "app/scenario/aggregations/all_reduces.hpp"

namespace paceline {

Keys exchange_level_keys();

/// Sets what a plan of exchanges with neighbors says about machines: the groups of one level take
/// their place. Throws ConfigError.
void read_level_of_neighbors(const Place& place, const WorkerShape& shape, AggregationPlan& plan);

/// Sets what a plan says about machines and levels. Throws ConfigError.
void read_exchange_levels(const Place& place, const WorkerShape& shape, AggregationPlan& plan);

}  // namespace paceline
