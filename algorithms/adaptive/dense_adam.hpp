// Adam over an exact all-reduce: every step averages whole gradients, then applies Adam's rule.
//
//   g_i  <-  stochastic gradient of worker i at x
//   x    <-  adam_step with (1/n) sum over i of g_i                  (optimizers/adam.hpp)
//
// The baseline of the 1-bit family. x, m and v are equal on all workers and stored once. It costs
// the same time and bytes as dense SGD; computation and communication do not overlap.
#pragma once

#include "algorithms/exchange/exchange_options.hpp"
#include "algorithms/optimizers/adam.hpp"
#include "sim/engine/task.hpp"

namespace paceline {

class Worker;

struct DenseAdamOptions {
    ExchangeOptions exchange{};
    AdamRule rule{};
};

Task<> dense_adam(Worker& self, DenseAdamOptions options);

}  // namespace paceline
