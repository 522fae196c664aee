// Local SGD: workers train alone and average their models every tau steps.
//
//   x_i  <-  momentum_step with g_i and m_i           every step      (optimizers/momentum.hpp)
//   x_i  <-  (1/n) sum over j of x_j                  after every tau-th step
//
//   symbol   here             meaning
//   x_i      self.model()     model of worker i
//   g_i                       its stochastic gradient at x_i
//   m_i      m                its momentum, 0 at first; stays local and continues across averages
//   tau      options.period   steps between averages
//
// The average blocks; nothing overlaps. Bytes per step: those of an all-reduce of the model,
// divided by tau. With tau = 1 and no clipping it is dense SGD with the same momentum: the mean of
// the m_i is the momentum of the mean gradient. With n = 1 it is sequential SGD.
//
// A run may end between two averages: the last partial block is not averaged. Measurements use the
// mean of the models, which is what that average would be.
//
// Sources: McDonald, Hall, Mann, NAACL 2010 (iterative parameter mixing); Stich, ICLR 2019. Local
// momentum follows released code (epfml/LocalSGD-Code).
#pragma once

#include <cstdint>

#include "algorithms/exchange/exchange_options.hpp"
#include "algorithms/optimizers/momentum.hpp"
#include "sim/engine/task.hpp"

namespace paceline {

class Worker;

struct LocalSgdOptions {
    std::int64_t period = 8;  // tau, 1 or more
    ExchangeOptions exchange{};
    MomentumRule rule{};
};

/// Returns whether step k is the last of a block of `period` steps.
[[nodiscard]] constexpr bool ends_block(std::int64_t k, std::int64_t period) {
    return (k + 1) % period == 0;
}

Task<> local_sgd(Worker& self, LocalSgdOptions options);

}  // namespace paceline
