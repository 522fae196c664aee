// Local SGD: workers train alone and average their models every tau steps.
//
//   every step               x_i  <-  a step of the inner optimizer with g_i  (inner_steps.hpp)
//   after every tau-th       x_i  <-  (1/n) sum over j of x_j
//
//   symbol   here                  meaning
//   x_i      self.model()          model of worker i
//   g_i                            its stochastic gradient at x_i
//   m_i      inner                 momentum of the inner optimizer, 0 at first; stays local and
//                                  continues across averages, unless `buffers` says otherwise
//   tau      options.period        steps between averages
//   k_s      options.switch_step   steps before the first block, each of which is averaged: 0, but
//                                  in post-local SGD (post_local_sgd.hpp)
//
// The average blocks; nothing overlaps. Bytes per step: those of an all-reduce of the model,
// divided by tau. With momentum SGD inside, tau = 1 and no clipping it is dense SGD with the same
// momentum: the mean of the m_i is the momentum of the mean gradient. With n = 1 it is sequential
// SGD.
//
// A run may end between two averages: the last partial block is not averaged. Measurements use the
// mean of the models, which is what that average would be.
//
// Sources: McDonald, Hall, Mann, NAACL 2010 (iterative parameter mixing); Stich, ICLR 2019. Local
// momentum follows released code (epfml/LocalSGD-Code).
#pragma once

#include <cstdint>

#include "algorithms/exchange/exchange_options.hpp"
#include "algorithms/local/inner_steps.hpp"
#include "sim/engine/task.hpp"

namespace paceline {

class Worker;

struct LocalSgdOptions {
    std::int64_t period = 8;  // tau, 1 or more
    ExchangeOptions exchange{};
    InnerRule inner = MomentumRule{};
    Buffers buffers = Buffers::maintain;
    std::int64_t switch_step = 0;
};

/// Returns how many vectors are averaged at the end of a block.
[[nodiscard]] constexpr int averaged_vectors(const LocalSgdOptions& options) {
    return 1 + (options.buffers == Buffers::average ? vectors_of(options.inner) : 0);
}

Task<> local_sgd(Worker& self, LocalSgdOptions options);

}  // namespace paceline
