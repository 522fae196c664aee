// DA-DmSGD: doubly averaged decentralized momentum SGD. Neighbors average models and momenta.
//
//   h_i  <-  beta m_i + g_i
//   m_i  <-  sum over j of w_ij h_j
//   x_i  <-  sum over j of w_ij (x_j - gamma h_j)
//
//   symbol   here        meaning
//   x_i      x           model of worker i
//   g_i      g           its stochastic gradient at x_i
//   w_ij                 mixing weights (topologies/mixing), rows sum to 1
//   gamma    gamma       learning rate of the step
//   beta     options.momentum, in [0, 1)
//   m_i      m           momentum, 0 at first
//   h_i      h           momentum before it is averaged
//
// Sends two vectors to each neighbor per step. Source: Yu, Jin, Yang, "On the Linear Speedup
// Analysis of Communication Efficient Momentum SGD for Distributed Non-Convex Optimization", ICML
// 2019, arXiv 1905.03817. Only its abstract was available, and no code of its authors was found.
// The order of its steps is from memory, unverified: the model might also move by the averaged
// momentum. The fixed point is derived.
#pragma once

#include "algorithms/exchange/exchange_options.hpp"
#include "sim/engine/task.hpp"

namespace paceline {

class Worker;

struct DaDmsgdOptions {
    double momentum = 0.9;  // beta
    ExchangeOptions exchange{};
};

/// Requires a job with a mixing.
Task<> da_dmsgd(Worker& self, DaDmsgdOptions options);

}  // namespace paceline
