// Momentum tracking: decentralized momentum SGD whose corrections make each worker follow the mean
// momentum of all, so that heterogeneous data cause no bias.
//
//   m_i  <-  beta m_i + g_i
//   x_i  <-  sum over j of w_ij x_j - gamma (m_i - c_i)
//   c_i  <-  sum over j of w_ij (c_j - m_j) + m_i
//   at first  m_i = c_i = (g_i - gbar) / (1 - beta),  gbar = (1/n) sum over j of g_j
//
//   symbol   here        meaning
//   x_i      x           model of worker i
//   g_i      g           its stochastic gradient at x_i
//   w_ij                 mixing weights (topologies/mixing), rows sum to 1
//   gamma    gamma       learning rate of the step
//   beta     options.momentum, in [0, 1)
//   m_i      m           momentum
//   c_i      c           correction: what m_i differs by from the mean momentum; the c_i sum to 0
//
// The first step averages the first gradients exactly, by a ring all-reduce. Each step sends two
// vectors to each neighbor, after the gradient. A worker that returns after a failure begins with
// m_i = c_i = 0. What the dead worker's c_i held is then missing, so the c_i no longer sum to 0 and
// the method is no longer exact.
//
// Source: Takezawa, Bao, Niwa, Sato, Yamada, "Momentum Tracking: Momentum Acceleration for
// Decentralized Deep Learning on Heterogeneous Data", 2022; form and first values: released code
// (yukiTakezawa/MomentumTracking, optimizer/momentum_tracking_optimizer.py).
#pragma once

#include "algorithms/exchange/exchange_options.hpp"
#include "sim/engine/task.hpp"

namespace paceline {

class Worker;

struct MomentumTrackingOptions {
    double momentum = 0.9;  // beta
    ExchangeOptions exchange{};
};

/// Requires a job with a mixing.
Task<> momentum_tracking(Worker& self, MomentumTrackingOptions options);

}  // namespace paceline
