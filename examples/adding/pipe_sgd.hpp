// Pipelined SGD: the all-reduce of a gradient overlaps with the computation of the next one.
//
//   g_i,k  <-  gradient of worker i at x_k
//   x_k+1  <-  momentum_step with (1/n) sum over i of g_i,k-1, and gamma_k-1
//
// So every gradient is of a model one step old, and x_1 = x_0. A step waits for the average of the
// step before. Let T be the time of a gradient and the update, and A that of an all-reduce. Then
// the first step takes T, every other one max(T, A), and the run ends A later. State per worker:
// model and momentum. Bytes per step: those of an all-reduce. Weight decay is that of the model
// which a step changes (algorithms/optimizers/momentum.hpp).
//
// Source: Li, Yu, Li, Avestimehr, Kim, Schwing. Pipe-SGD, NeurIPS 2018, from memory, unverified.
#pragma once

#include "algorithms/exchange/exchange_options.hpp"
#include "algorithms/optimizers/momentum.hpp"
#include "sim/engine/task.hpp"

namespace paceline {

class Worker;

struct PipeSgdOptions {
    ExchangeOptions exchange{};
    MomentumRule rule{};
};

Task<> pipe_sgd(Worker& self, PipeSgdOptions options);

}  // namespace paceline
