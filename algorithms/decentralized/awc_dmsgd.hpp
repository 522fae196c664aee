// AWC-DmSGD: decentralized momentum SGD that averages with the neighbors during the gradient.
//
//   m_i  <-  beta m_i + g_i
//   x_i  <-  sum over j of w_ij x_j - gamma m_i
//
//   symbol   here        meaning
//   x_i      x           model of worker i
//   g_i      g           its stochastic gradient at x_i
//   w_ij                 mixing weights (topologies/mixing), rows sum to 1
//   gamma    gamma       learning rate of the step
//   beta     options.momentum, in [0, 1)
//   m_i      m           momentum, 0 at first
//
// A step takes the longer of computation and exchange. Form: released code, SCSLabISU/CDSGD,
// CDMSGD.py @ca5e2bf, without Nesterov momentum (its default is with). There gamma stands inside
// the buffer, m_i <- beta m_i - gamma g_i, which is the same while gamma is constant. That the
// tables of DecentLaM call it "Balu et al. 2020" is from memory, unverified: only its abstract was
// available.
#pragma once

#include "algorithms/exchange/exchange_options.hpp"
#include "sim/engine/task.hpp"

namespace paceline {

class Worker;

struct AwcDmsgdOptions {
    double momentum = 0.9;  // beta
    ExchangeOptions exchange{};
};

/// Requires a job with a mixing.
Task<> awc_dmsgd(Worker& self, AwcDmsgdOptions options);

}  // namespace paceline
