// QG-DmSGD: builds momentum from the movement of the whole step, averaging included, as an estimate
// of the global direction.
//
//   h_i   =  x_i - gamma (beta m_i + g_i)
//   x_i'  =  sum over j of w_ij h_j
//   m_i  <-  beta m_i + (1-beta) (x_i - x_i') / gamma;   x_i <- x_i'
//
//   symbol   here        meaning
//   x_i      x           model of worker i
//   g_i      g           its stochastic gradient at x_i
//   w_ij                 mixing weights (topologies/mixing), rows sum to 1
//   gamma    gamma       learning rate of the step
//   beta     options.momentum, in [0, 1)
//   m_i      m           momentum, 0 at first
//   h_i      h           model before it is averaged
//
// Lin, Karimireddy, Stich, Jaggi. "Quasi-Global Momentum." ICML 2021; form: released code
// (epfml). On a complete graph it is quasi-hyperbolic momentum, not heavy ball. Requires
// gamma > 0.
#pragma once

#include "algorithms/exchange/exchange_options.hpp"
#include "sim/engine/task.hpp"

namespace paceline {

class Worker;

struct QgDmsgdOptions {
    double momentum = 0.9;  // beta
    ExchangeOptions exchange{};
};

/// Requires a job with a mixing.
Task<> qg_dmsgd(Worker& self, QgDmsgdOptions options);

}  // namespace paceline
