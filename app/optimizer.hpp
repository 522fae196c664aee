// The "optimizer" of a scenario: step sizes, momentum, decay and clipping, whatever the algorithm.
#pragma once

#include "algorithms/optimizers/schedule.hpp"
#include "app/object_reader.hpp"

namespace paceline {

struct Optimizer {
    Schedule schedule;
    double momentum = 0.9;  // of methods that have one, in [0, 1)
    bool nesterov = false;
    double weight_decay = 0;  // (decay / 2) |x|^2 over all parameters
    double clip = 0;          // norm that the mean gradient is scaled down to; 0: never
};

Keys optimizer_keys();
Keys schedule_keys();

/// Throws ConfigError.
Optimizer read_optimizer(const Place& place);
/// The "optimizer" of an algorithm, for studies in which each has its own: what it says in place of
/// what the scenario says, key by key.
Optimizer read_optimizer(const Place& place, Optimizer otherwise);

}  // namespace paceline
