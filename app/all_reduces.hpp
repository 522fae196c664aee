// The "all_reduce" of an algorithm: a name, or an object for what needs more than a name.
#pragma once

#include "app/object_reader.hpp"
#include "sim/collectives/all_reduce_plan.hpp"

namespace paceline {

/// The workers that an algorithm runs on, as far as its options depend on them.
struct WorkerShape {
    int workers = 1;
    int devices_per_node = 1;
};

Keys parameter_server_keys();

/// Throws ConfigError.
AllReducePlan read_all_reduce(const Place& place, const WorkerShape& shape);

}  // namespace paceline
