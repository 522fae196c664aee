// Gradient tracking: each worker tracks the mean gradient of all workers, so that heterogeneous
// data cause no bias.
//
//   first step:  y_i  =  g_i
//   x_i  <-  sum over j of w_ij (x_j - gamma y_j)
//   y_i  <-  sum over j of w_ij y_j + g_i' - g_i        g_i': the gradient at the new x_i
//
//   symbol   here        meaning
//   x_i      x           model of worker i
//   g_i      g           its stochastic gradient at x_i
//   w_ij                 mixing weights (topologies/mixing), rows sum to 1
//   gamma    gamma       learning rate of the step
//   y_i      y           estimate of the mean gradient
//
// Sends two vectors to each neighbor per step. Source: Qu, Li, IEEE Trans. Control of Network
// Systems 5, 2018; form: bluefog-tutorial.
#pragma once

#include "algorithms/exchange/exchange_options.hpp"
#include "sim/engine/task.hpp"

namespace paceline {

class Worker;

/// Requires a job with a mixing.
Task<> gradient_tracking(Worker& self, ExchangeOptions exchange = {});

}  // namespace paceline
