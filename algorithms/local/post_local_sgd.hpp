// Post-local SGD: averages after every step at first, and every H steps after a switch.
//
//   x_i  <-  momentum_step with g_i and m_i           every step      (optimizers/momentum.hpp)
//   x_i  <-  (1/n) sum over j of x_j                  after each of the first k_s steps,
//                                                     then after every H-th one, counted from k_s
//
//   symbol   here                  meaning
//   x_i      self.model()          model of worker i
//   m_i      m                     its momentum, 0 at first; stays its own
//   k_s      options.switch_step   steps before the switch; the paper's is the first drop of gamma
//   H        options.period        steps between averages after it
//
// The first k_s steps are those of dense SGD (local_sgd.hpp, tau = 1). The last of them is
// averaged, so all models are equal at the switch, whatever H is. The average blocks. A partial
// last block is not averaged (local_sgd.hpp).
//
// Source: Lin, Stich, Patel, Jaggi, "Don't Use Large Mini-Batches, Use Local SGD", ICLR 2020. That
// parameters are averaged in both phases follows released code (epfml/LocalSGD-Code). PyTorch
// averages gradients before the switch; that costs the same and trains the same way.
#pragma once

#include <cstdint>

#include "algorithms/exchange/exchange_options.hpp"
#include "algorithms/optimizers/momentum.hpp"
#include "sim/engine/task.hpp"

namespace paceline {

class Worker;

struct PostLocalSgdOptions {
    std::int64_t switch_step = 0;  // k_s
    std::int64_t period = 16;      // H, 1 or more
    ExchangeOptions exchange{};
    MomentumRule rule{};

    /// Returns whether models are averaged after step k.
    [[nodiscard]] constexpr bool averages_after(std::int64_t k) const {
        return k < switch_step || (k + 1 - switch_step) % period == 0;
    }
};

Task<> post_local_sgd(Worker& self, PostLocalSgdOptions options);

}  // namespace paceline
