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
// Sends two vectors to each neighbor per step. Source: Yu, Jin, Yang, ICML 2019. The order of its
// steps is from memory, unverified; its fixed point is derived.
#pragma once

#include "sim/engine/task.hpp"

namespace paceline {

class Worker;

struct DaDmsgdOptions {
    double momentum = 0.9;  // beta
};

/// Requires a job with a mixing.
Task<> da_dmsgd(Worker& self, DaDmsgdOptions options);

}  // namespace paceline
