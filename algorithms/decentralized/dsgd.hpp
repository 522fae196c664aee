// Decentralized SGD, adapt then combine: each worker takes a step, then averages with its
// neighbors.
//
//   x_i  <-  sum over j of w_ij (x_j - gamma g_j)
//
//   symbol   here        meaning
//   x_i      x           model of worker i
//   g_i      g           its stochastic gradient at x_i
//   w_ij                 mixing weights (topologies/mixing), rows sum to 1
//   gamma    gamma       learning rate of the step
//
// Sends one vector to each neighbor per step, after the gradient: nothing overlaps. With
// heterogeneous data the fixed point is biased by O(gamma). Source: Chen, Sayed, IEEE Trans.
// Signal Processing 60, 2012 (diffusion); form: bluefog-tutorial.
#pragma once

#include "algorithms/exchange/exchange_options.hpp"
#include "sim/engine/task.hpp"

namespace paceline {

class Worker;

/// Requires a job with a mixing.
Task<> dsgd(Worker& self, ExchangeOptions exchange = {});

}  // namespace paceline
