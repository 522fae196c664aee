// The inner steps of methods that train with AdamW on each worker and exchange something else now
// and then:
//
//   x_i, m_i, v_i  <-  adam_step with g_i                       (optimizers/adam.hpp)
//
// m_i, v_i and the count of steps, which Adam's correction needs, stay local: they are 0 when a
// worker's life begins. A step takes the time of a gradient and of the job's update.
#pragma once

#include <cstdint>

#include "algorithms/optimizers/adam.hpp"
#include "models/tensors/vector.hpp"
#include "sim/engine/task.hpp"

namespace paceline {

class Worker;

/// What Adam remembers of one worker.
struct AdamState {
    explicit AdamState(const Vector& like)
        : m(Vector::zero_like(like)), v(Vector::zero_like(like)) {}

    Vector m;
    Vector v;
    std::int64_t steps = 0;
};

/// Takes a step of the worker's own model. Requires that `state` outlives it.
Task<> adamw_step(Worker& self, AdamRule rule, AdamState& state);

}  // namespace paceline
