// Dense synchronous SGD: every step averages whole, uncompressed gradients exactly.
//
//   g_i  <-  stochastic gradient of worker i at x
//   x    <-  momentum_step with (1/n) sum over i of g_i          (optimizers/momentum.hpp)
//
// The baseline of every comparison. x and m are equal on all workers and stored once. Bytes per
// step and worker: those of an all-reduce of the model. Computation and communication do not
// overlap.
#pragma once

#include "algorithms/optimizers/momentum.hpp"
#include "sim/collectives/all_reduce_plan.hpp"
#include "sim/engine/task.hpp"

namespace paceline {

class Worker;

struct DenseSgdOptions {
    AllReducePlan all_reduce;
    MomentumRule rule{};
};

Task<> dense_sgd(Worker& self, DenseSgdOptions options);

}  // namespace paceline
