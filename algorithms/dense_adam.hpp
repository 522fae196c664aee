// Adam over an exact all-reduce: gradients are averaged whole in every step, then Adam's rule.
//
//   g_i  <-  stochastic gradient of worker i at x
//   x    <-  adam_step with (1/n) sum over i of g_i                  (optimizers/adam.hpp)
//
// The baseline of the 1-bit family. x, m and v are equal on all workers and exist once. Costs in
// time and bytes what dense SGD costs; computation and communication do not overlap.
#pragma once

#include "algorithms/optimizers/adam.hpp"
#include "algorithms/worker.hpp"

namespace paceline {

struct DenseAdamOptions {
    AllReducePlan all_reduce{};
    AdamRule rule{};
};

Task<> dense_adam(Worker& self, DenseAdamOptions options);

}  // namespace paceline
