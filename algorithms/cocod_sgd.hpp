// CoCoD-SGD: the models of all workers are averaged while each one trains on from its own.
//
//   as a block begins         s_i  <-  x_i;  begin the average  sbar  <-  (1/n) sum over j of s_j
//   every step of a block     x_i  <-  momentum_step with g_i and m_i      (optimizers/momentum.hpp)
//   after its last            wait for sbar;  x_i  <-  sbar + (x_i - s_i)
//
//   symbol   here             meaning
//   x_i      self.model()     model of worker i
//   s_i      start            its model as the block began
//   m_i      m                its momentum, 0 at first; goes on across blocks
//   tau      options.period   steps of a block
//
// The mean of the models moves as if nothing had been exchanged: by the mean of what workers did. The
// average blocks only where it takes longer than the tau steps beside it. That of the first block, of
// equal models, is sent too. What is under way when a run ends within a block is dropped, and that
// block has no correction. Alone it is SGD.
//
// Source: Shen et al., "Faster Distributed Deep Net Training: Computation and Communication Decoupled
// Stochastic Gradient Descent", IJCAI 2019; the rule: released code (JYWa/Overlap_Local_SGD).
#pragma once

#include <cstdint>

#include "algorithms/optimizers/momentum.hpp"
#include "algorithms/worker.hpp"

namespace paceline {

struct CocodSgdOptions {
    std::int64_t period = 2;  // tau, 1 or more
    AllReducePlan all_reduce{};
    MomentumRule rule{};
};

Task<> cocod_sgd(Worker& self, CocodSgdOptions options);

}  // namespace paceline
