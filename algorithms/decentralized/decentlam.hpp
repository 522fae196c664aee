// DecentLaM: decentralized momentum SGD whose momentum adds no bias.
//
//   g~_i  =  (x_i - sum over j of w_ij (x_j - gamma g_j)) / gamma
//   m_i  <-  beta m_i + g~_i
//   x_i  <-  x_i - gamma m_i
//
//   symbol   here        meaning
//   x_i      x           model of worker i
//   g_i      g           its stochastic gradient at x_i
//   w_ij                 mixing weights (topologies/mixing), rows sum to 1
//   gamma    gamma       learning rate of the step
//   beta     options.momentum, in [0, 1)
//   m_i      m           momentum, 0 at first
//   g~_i     g_tilde     the gradient that enters the momentum
//
// Source: Yuan, Chen, Huang, Zhang, Pan, Xu, Yin. "DecentLaM: Decentralized Momentum SGD for
// Large-batch Deep Training." ICCV 2021; released re-implementation: yukiTakezawa/MomentumTracking.
// Requires a symmetric, static W: on directed or changing ones it diverges for usual beta
// (derived). Requires gamma > 0. Sends one vector to each neighbor per step, after the gradient.
#pragma once

#include "algorithms/exchange/exchange_options.hpp"
#include "sim/engine/task.hpp"

namespace paceline {

class Worker;

struct DecentlamOptions {
    double momentum = 0.9;  // beta
    ExchangeOptions exchange{};
};

/// Requires a job with a mixing.
Task<> decentlam(Worker& self, DecentlamOptions options);

}  // namespace paceline
