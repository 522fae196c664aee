// NoLoCo: DiLoCo without an all-reduce. After each block, workers average with one other, drawn at
// random, and a term of the outer momentum pulls their models together.
//
//   every step of a block       x_i    <-  a step of the inner optimizer with g_i
//                                          (inner_steps.hpp)
//   after its last              d_i    <-  x_i - phi_i
//                               m_i    <-  alpha m_i + beta sum over j of w_ij d_j
//                                          + gamma (sum over j of w_ij phi_j - phi_i)
//                               phi_i  <-  phi_i + m_i
//                               x_i    <-  phi_i
//
//   symbol   here                          meaning
//   x_i      self.model()                  model of worker i
//   phi_i    phi                           its outer model, where the block began: x(0) at first
//   m_i      m                             its outer momentum, 0 at first; heavy ball
//   alpha    outer_momentum                in [0, 1)
//   beta     outer_learning_rate
//   gamma    pull                          beta in the released code
//   w_ij                                   mixing weights of the step in which a block ends: of
//                                          random pairs 1/2 each; any mixing takes their place
//   H        period                        steps of a block
//
// Every worker has an outer model and momentum of its own. phi and d travel side by side; the
// exchange blocks. Bytes per step: two vectors to each neighbor, divided by H. A partial last block
// has no outer step. After a death, averages cover those that are present.
//
// Reductions: where all average with all (the complete mixing) phi stays equal on all workers, and
// it is DiLoCo with outer SGD of momentum alpha and rate beta; so it is with one worker. With alpha
// = 0 and beta = gamma = 1 it is a gossip average of models: phi_i <- sum over j of w_ij x_j.
//
// Source: released code (gensyn-ai/noloco, src/noloco/sparse_optimizer_c.py @a1b4a42, with configs/
// c4_noloco_mean_100m_8.yaml: H 50, alpha 0.5, beta 0.7, pairs; torch's Adam inside) of
// Kolehmainen et al., "NoLoCo: No-all-reduce Low Communication Training Method for Large Models",
// 2025 (arXiv 2506.10911, whose abstract could be read; there gamma is a rate of its own, from
// memory). One of a pair gathers both vectors there and sends the means back, which takes twice as
// long. Random routes through a pipeline are not modeled.
#pragma once

#include <cstdint>

#include "algorithms/exchange/exchange_options.hpp"
#include "algorithms/local/inner_steps.hpp"
#include "sim/engine/task.hpp"

namespace paceline {

class Worker;

struct NolocoOptions {
    std::int64_t period = 50;          // H, 1 or more
    double outer_momentum = 0.5;       // alpha
    double outer_learning_rate = 0.7;  // beta
    double pull = 0.7;                 // gamma
    ExchangeOptions exchange{};        // with neighbors
    InnerRule inner{};                 // AdamW
};

/// Requires a job with a mixing.
Task<> noloco(Worker& self, NolocoOptions options);

}  // namespace paceline
