// LAMB over an exact all-reduce: every step averages whole gradients, then applies LAMB's rule.
//
//   g_i  <-  stochastic gradient of worker i at x
//   x    <-  lamb_step with (1/n) sum over i of g_i                  (optimizers/lamb.hpp)
//
// The baseline of 1-bit LAMB. x, m and v are equal on all workers and stored once. It costs the
// same time and bytes as dense SGD: the norms of layers are not charged. Computation and
// communication do not overlap.
#pragma once

#include "algorithms/exchange/exchange_options.hpp"
#include "algorithms/optimizers/lamb.hpp"
#include "sim/engine/task.hpp"

namespace paceline {

class Worker;

struct DenseLambOptions {
    ExchangeOptions exchange{};
    LambRule rule{};
};

Task<> dense_lamb(Worker& self, DenseLambOptions options);

}  // namespace paceline
