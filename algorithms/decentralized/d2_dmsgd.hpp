// D2 with momentum (exact diffusion with momentum): each step corrects the bias of decentralized
// SGD.
//
//   m_i  <-  beta m_i + g_i
//   x_i  <-  sum over j of w_ij (2 x_j - x_j' - (gamma m_j - gamma' m_j'))
//   primes: values of the step before; at first x_j' = x_j and m_j' = 0
//
//   symbol   here        meaning
//   x_i      x           model of worker i
//   g_i      g           its stochastic gradient at x_i
//   w_ij                 mixing weights (topologies/mixing), rows sum to 1
//   gamma    gamma       learning rate of the step
//   beta     options.momentum, in [0, 1)
//   m_i      m           momentum, 0 at first
//
// beta = 0 is D2 (Tang et al., ICML 2018). The papers have a constant gamma. With a gamma that
// changes, each step takes back the step that was taken, gamma' m_j', so the workers still meet at
// the minimum: with W = J the steps add up to those of the mean. gamma (m_j - m_j') would leave an
// error for good. Requires that the least eigenvalue of W is above -1/3. Form: exact diffusion of
// YhHu96's released code; the same as EDM (arXiv 2501.19082).
#pragma once

#include "algorithms/exchange/exchange_options.hpp"
#include "sim/engine/task.hpp"

namespace paceline {

class Worker;

struct D2DmsgdOptions {
    double momentum = 0.9;  // beta
    ExchangeOptions exchange{};
};

/// Requires a job with a mixing.
Task<> d2_dmsgd(Worker& self, D2DmsgdOptions options);

}  // namespace paceline
