// CoCoD-SGD: workers average their models while each one continues to train from its own.
//
//   as a block begins         s_i  <-  x_i;  begin the average  sbar  <-  (1/n) sum over j of s_j
//   every step of a block     x_i  <-  a step of the inner optimizer with g_i  (inner_steps.hpp)
//   after its last            wait for sbar;  x_i  <-  sbar + (x_i - s_i)
//
//   symbol   here             meaning
//   x_i      self.model()     model of worker i
//   s_i      start            its model at the start of the block
//   m_i      inner            its momentum, 0 at first; continues across blocks
//   tau      options.period   steps per block
//
// The mean of the models moves as if nothing had been exchanged: by the mean of the workers'
// updates. The average blocks only if it takes longer than the tau steps that run in parallel. The
// average of the first block is sent too, although its models are equal. If a run ends within a
// block, the exchange in flight is dropped and that block gets no correction. With n = 1 it is SGD.
//
// Source: Shen et al., "Faster Distributed Deep Net Training: Computation and Communication
// Decoupled Stochastic Gradient Descent", IJCAI 2019; the rule: released code
// (JYWa/Overlap_Local_SGD).
#pragma once

#include <cstdint>

#include "algorithms/exchange/exchange_options.hpp"
#include "algorithms/local/inner_steps.hpp"
#include "sim/engine/task.hpp"

namespace paceline {

class Worker;

struct CocodSgdOptions {
    std::int64_t period = 2;  // tau, 1 or more
    ExchangeOptions exchange{};
    InnerRule inner = MomentumRule{};
};

Task<> cocod_sgd(Worker& self, CocodSgdOptions options);

}  // namespace paceline
