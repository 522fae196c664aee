// Decentralized SGD, adapt with combine (D-PSGD): workers average with their neighbors during the
// gradient.
//
//   x_i  <-  sum over j of w_ij x_j - gamma g_i
//
//   symbol   here        meaning
//   x_i      x           model of worker i
//   g_i      g           its stochastic gradient at x_i
//   w_ij                 mixing weights (topologies/mixing), rows sum to 1
//   gamma    gamma       learning rate of the step
//
// Sends one vector to each neighbor per step. It is known when the step begins, so a step takes the
// longer of computation and exchange. Source: Lian et al., NeurIPS 2017; form: bluefog-tutorial.
#pragma once

#include "algorithms/exchange/exchange_options.hpp"
#include "sim/engine/task.hpp"

namespace paceline {

class Worker;

/// Requires a job with a mixing.
Task<> dsgd_awc(Worker& self, ExchangeOptions exchange = {});

}  // namespace paceline
