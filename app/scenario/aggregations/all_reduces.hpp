// Reads the "all_reduce" of an algorithm: a name, or an object where a name is not enough.
#pragma once

#include "app/json/object_reader.hpp"
#include "app/scenario/aggregations/worker_shape.hpp"
#include "sim/collectives/plans/all_reduce_plan.hpp"

namespace paceline {

/// Reads "slice" and "in_flight", or "buffer", "slots" and "channels". Throws ConfigError.
Slices read_slices(const ObjectReader& read);

/// Reads "rings". Returns how many rings there are over machines. Throws ConfigError.
int read_rings(const ObjectReader& read, const WorkerShape& shape);

/// Throws ConfigError.
AllReducePlan read_all_reduce(const Place& place, const WorkerShape& shape);

}  // namespace paceline
