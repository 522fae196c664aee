// Post-local SGD: averages after every step at first, and every H steps after a switch. Its loop is
// that of local_sgd.hpp, and these are its parts:
//
//   x_i  <-  a step of the inner optimizer with g_i   every step      (inner_steps.hpp)
//   x_i  <-  (1/n) sum over j of x_j                  after each of the first k_s steps,
//                                                     then after every H-th one, counted from k_s
//
//   symbol   here                  meaning
//   x_i      self.model()          model of worker i
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

#include "algorithms/local/local_sgd.hpp"

namespace paceline {

/// Returns the parts of which local SGD becomes post-local SGD.
[[nodiscard]] inline LocalSgdOptions post_local_sgd(std::int64_t switch_step) {
    return {.period = 16, .switch_step = switch_step};
}

}  // namespace paceline
