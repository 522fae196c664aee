// Momentum consensus (DMSGD): neighbors share models and momentum, and mix both by W.
//
// There are two readings of the method. Both are from memory, unverified: only the abstract and the
// introduction of the paper were at hand. They state that the momentum is heavy-ball, that agents
// share models and momentum and that the graph is fixed, but not what the momentum is a difference
// of, nor what omega weights. Here omega is the share of the momentum that is mixed.
//
//   momentum of iterate differences (x^{-1} = x^0):
//     x_i^{k+1}  =  sum_j w_ij x_j^k  -  gamma g_i
//                   + beta [ omega sum_j w_ij (x_j^k - x_j^{k-1}) + (1-omega) (x_i^k - x_i^{k-1}) ]
//   momentum of buffers (v = 0 at first):
//     v_i  <-  beta [ omega sum_j w_ij v_j  +  (1-omega) v_i ]  -  gamma g_i
//     x_i  <-  sum_j w_ij x_j  +  v_i                          x_j: before the step
//
//   symbol   here               meaning
//   x_i      x                  model of worker i
//   g_i      g                  its stochastic gradient at x_i, before mixing
//   w_ij                        mixing weights (topologies/mixing), rows sum to 1
//   gamma    gamma              learning rate of the step
//   beta     options.momentum   in [0, 1)
//   omega    options.omega      in [0, 1]
//   x^k-x^{k-1}, v   change, v  momentum: the last change of the model, or a buffer
//
// The two readings agree for two steps and differ afterwards. Their fixed points differ, too. A
// momentum of iterates keeps the fixed point of DSGD for every omega. A buffer multiplies DSGD's
// bias, least with omega = 1. With omega = 0 the buffer reading is AWC-DmSGD. Where all curvatures
// are L and mu is the least eigenvalue of W, the iterate reading is stable for
// gamma L < 1 + 2 beta + mu (omega 0) and for gamma L < 1 + (1 + 2 beta) mu (omega 1): derived.
// With omega = 1 use a lazy W.
//
// Each step sends two vectors to each neighbor, whatever omega is. The messages overlap the
// gradient, which needs neither vector; the step waits for both. When gamma changes, a momentum of
// iterates still carries steps that were taken with the old gamma.
//
// Source: Balu, Jiang, Tan, Hegde, Lee, Sarkar, "Decentralized Deep Learning using Momentum-
// Accelerated Consensus", ICASSP 2021, arXiv 2010.11166 (its abstract and introduction). No code of
// the method was found; the group's CrossGradientAggregation (@b6c22a3) does not contain it.
#pragma once

#include "algorithms/exchange/exchange_options.hpp"
#include "sim/engine/task.hpp"

namespace paceline {

class Worker;

struct MomentumConsensusOptions {
    double momentum = 0.9;  // beta
    double omega = 0.5;
    ExchangeOptions exchange{};
};

/// Both require a job with a mixing.
Task<> momentum_consensus_of_iterates(Worker& self, MomentumConsensusOptions options);
Task<> momentum_consensus_of_buffers(Worker& self, MomentumConsensusOptions options);

}  // namespace paceline
