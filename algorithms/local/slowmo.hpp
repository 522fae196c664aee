// SlowMo: applies a slow momentum to blocks of tau steps of any base optimizer.
//
//   every step of a block       x_i   <-  base step                           (base_steps.hpp)
//   after its last              xbar  <-  (1/n) sum over j of x_j             exact average
//                               u     <-  beta u + (x_0 - xbar) / gamma
//                               x_0   <-  x_0 - alpha gamma u             (outer_steps.hpp)
//                               x_i   <-  x_0,  and the base's buffers are renewed
//
//   symbol   here             meaning
//   x_i      self.model()     model of worker i
//   x_0      anchor           where the block began: x(0) at first
//   u        u                slow momentum, 0 at first; does not depend on how gamma changes
//   gamma    gamma            learning rate of the last step of the block, in both places
//   alpha    slow.alpha       slow learning rate
//   beta     slow.beta        slow momentum
//   tau      options.period   steps of a block
//
// x_0 and u are equal on all workers and exist once. Buffers of the base: `reset` makes them zero,
// `maintain` leaves them, `average` gives each worker their mean. `average` costs an exchange of
// one more vector (two with Adam).
//
// Without the average (`average` false), each worker has its own x_0 and u and uses its own x_i for
// xbar. Nothing is sent beyond what the base sends. The reader also runs the base `all_reduce` in
// this way, because its x_i are equal. With that base x, x_0 and u exist once either way, so a
// worker that returns after a failure has what all have.
//
// The average blocks. Nothing overlaps but osgp's messages within a block: its last step waits for
// them, as the released code (fairscale) does. A partial last block has no slow step.
//
// Reductions: with base local SGD and alpha = 1, beta = 0 is averaging (local_sgd.hpp, buffers
// maintained), and beta > 0 is classical BMUF at constant gamma (bmuf.hpp). With tau = 1 in
// addition and no momentum in the base, it is synchronous SGD with heavy ball beta. One worker with
// beta = 0 runs Lookahead.
//
// If the base uses push-sum, the numerators are averaged, which keeps their sum, and the weights
// start again at 1. This equals the average of the models on regular graphs, where the weights are
// 1. Without the average, the weight stays and x_i is the de-biased model.
// Both are choices made here.
//
// Source: Wang, Tantia, Ballas, Rabbat, "SlowMo: Improving Communication-Efficient Distributed SGD
// with Slow Momentum", ICLR 2020 (arXiv 1910.00643), Algorithm 1; read in full. Defaults of beta
// and tau: 0.5 and 48 as in fairscale; the paper tunes beta in 0.4 to 0.8 and has alpha = 1
// everywhere.
#pragma once

#include <cstdint>

#include "algorithms/exchange/exchange_options.hpp"
#include "algorithms/local/base_steps.hpp"
#include "algorithms/local/outer_steps.hpp"
#include "sim/engine/task.hpp"

namespace paceline {

class Worker;

struct SlowmoOptions {
    SlowMomentum slow{};       // alpha, beta
    std::int64_t period = 48;  // tau, 1 or more
    bool average = true;
    Buffers buffers = Buffers::reset;
    ExchangeOptions exchange{};  // for the average
    BaseOptions base{};
};

/// Requires a job with a mixing if the base has one.
Task<> slowmo(Worker& self, SlowmoOptions options);

}  // namespace paceline
