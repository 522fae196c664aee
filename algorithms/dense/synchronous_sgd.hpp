// Synchronous SGD: every step averages the gradients of all workers, by any codec, aggregation and
// schedule.
//
//   g_i  <-  stochastic gradient of worker i at x
//   G    <-  the aggregate of the g_i                  (exchange/exchange.hpp)
//   x    <-  momentum_step with G                      (optimizers/momentum.hpp)
//
//   codec          G
//   none           (1/n) sum over i of g_i: dense SGD, the baseline of every comparison
//   a compressor   (1/n) sum over i of C(g_i), or of C(g_i + e_i) with error feedback; where the
//                  aggregation encodes again, what it makes of that
//   power-sgd      P Q^T of low rank
//
// Momentum, Nesterov, decay and clipping apply to G. x and m are equal on all workers and stored
// once; what a codec remembers belongs to a worker, and is in units of gradients, so that a change
// of the learning rate does not change it. With a lossless codec all choices train alike, and only
// the time differs. A lone worker sends nothing but encodes and decodes.
//
// The forms that papers have compared: dense SGD, whole and after backward; PyTorch's
// DistributedDataParallel, buckets of 25 MiB beside backward on one stream (Li et al., VLDB 2020);
// the order of compressed SGD follows released code (sands-lab/grace).
//
// Into forward (exchange/piece_schedule.hpp) the update of a piece takes place before the forward
// pass of its layers. Evaluations at the end of a step then see the model before that step's
// update.
#pragma once

#include "algorithms/exchange/exchange_options.hpp"
#include "algorithms/optimizers/momentum.hpp"
#include "sim/engine/shared_value.hpp"
#include "sim/engine/task.hpp"

namespace paceline {

class Worker;

struct SynchronousSgdOptions {
    ExchangeOptions exchange{};
    MomentumRule rule{};
};

Task<> synchronous_sgd(Worker& self, SharedValue<SynchronousSgdOptions> options);

}  // namespace paceline
