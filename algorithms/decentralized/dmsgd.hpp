// DmSGD: decentralized SGD, adapt then combine, with momentum on the local gradient.
//
//   m_i  <-  beta m_i + g_i
//   x_i  <-  sum over j of w_ij (x_j - gamma m_j)
//
//   symbol   here        meaning
//   x_i      x           model of worker i
//   g_i      g           its stochastic gradient at x_i
//   w_ij                 mixing weights (topologies/mixing), rows sum to 1
//   gamma    gamma       learning rate of the step
//   beta     options.momentum, in [0, 1)
//   m_i      m           momentum, 0 at first
//
// The momentum amplifies the heterogeneous part of the gradients: the squared bias of DSGD grows by
// up to 1/(1-beta)^2 (Yuan et al., DecentLaM, ICCV 2021, which compares against it). Form: released
// code of yukiTakezawa/MomentumTracking.
#pragma once

#include "algorithms/exchange/exchange_options.hpp"
#include "sim/engine/task.hpp"

namespace paceline {

class Worker;

struct DmsgdOptions {
    double momentum = 0.9;  // beta
    ExchangeOptions exchange{};
};

/// Requires a job with a mixing.
Task<> dmsgd(Worker& self, DmsgdOptions options);

}  // namespace paceline
