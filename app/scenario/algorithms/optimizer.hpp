// The "optimizer" of a scenario: step sizes, momentum, decay and clipping, independent of the
// algorithm.
#pragma once

#include "algorithms/optimizers/rate_schedule.hpp"
#include "app/json/object_reader.hpp"

namespace paceline {

struct Optimizer {
    Schedule schedule;
    double momentum = 0.9;  // for methods with momentum, in [0, 1)
    bool nesterov = false;
    double weight_decay = 0;  // (decay / 2) |x|^2 over all parameters
    double clip = 0;          // norm that the mean gradient is scaled down to; 0: no clipping
};

/// Throws ConfigError.
Optimizer read_optimizer(const Place& place);
/// Reads the "optimizer" of an algorithm, for studies in which each algorithm has its own. Its keys
/// override those of the scenario one by one.
Optimizer read_optimizer(const Place& place, Optimizer otherwise);

}  // namespace paceline
