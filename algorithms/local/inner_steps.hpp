// The inner steps of methods that train on each worker alone and exchange something else now and
// then:
//
//   x_i, m_i, v_i  <-  a step of the inner optimizer with g_i
//
//   AdamRule       AdamW                                        (optimizers/adam.hpp)
//   LambRule       LAMB                                         (optimizers/lamb.hpp)
//   MuonRule       Muon, and AdamW for what is no matrix        (optimizers/muon.hpp)
//   MomentumRule   momentum SGD, without v_i                    (optimizers/momentum.hpp)
//
// m_i, v_i and the count of steps, which corrections of bias need, stay local: they are 0 when a
// worker's life begins. A step takes the time of a gradient and of the job's update, whatever the
// optimizer: what Muon's products take is not charged.
#pragma once

#include <cstdint>
#include <variant>

#include "algorithms/optimizers/adam.hpp"
#include "algorithms/optimizers/lamb.hpp"
#include "algorithms/optimizers/momentum.hpp"
#include "algorithms/optimizers/muon.hpp"
#include "models/tensors/vector.hpp"
#include "sim/engine/task.hpp"

namespace paceline {

class Worker;

using InnerRule = std::variant<AdamRule, LambRule, MuonRule, MomentumRule>;

/// What the inner optimizer remembers of one worker.
struct InnerState {
    explicit InnerState(const Vector& like)
        : m(Vector::zero_like(like)), v(Vector::zero_like(like)) {}

    Vector m;
    Vector v;
    std::int64_t steps = 0;
};

/// Takes a step of the worker's own model. Requires that `state` outlives it.
Task<> inner_step(Worker& self, InnerRule rule, InnerState& state);

}  // namespace paceline
