// Parallel momentum SGD with LARS: gradients are averaged exactly in every step, and each layer's
// step is scaled by its trust ratio before it enters the momentum.
//
//   g    =   (1/n) sum over i of g_i
//   g_l  <-  r_l (g_l + lambda x_l),   r_l = eta |x_l| / (|g_l| + lambda |x_l| + eps)
//   m    <-  beta m + g
//   x    <-  x - gamma m
//
//   symbol   here                  meaning
//   x, m                           model and momentum, equal on all workers, exist once
//   beta     options.momentum, in [0, 1)
//   gamma                          learning rate of the step
//   r_l                            trust ratio of a layer: optimizers/lars.hpp
//
// This is the large-batch baseline of the decentralized literature. With all r_l = 1 it is dense
// momentum SGD. It takes the same time as that, because layer norms are not charged. Sources: You,
// Gitman, Ginsburg, arXiv 1708.03888, 2017; as a baseline: Yuan et al., ICCV 2021 (DecentLaM).
#pragma once

#include "algorithms/exchange/exchange_options.hpp"
#include "algorithms/optimizers/lars.hpp"
#include "sim/engine/task.hpp"

namespace paceline {

class Worker;

struct PmsgdLarsOptions {
    ExchangeOptions exchange{};
    double momentum = 0.9;  // beta
    LarsOptions lars{};
};

Task<> pmsgd_lars(Worker& self, PmsgdLarsOptions options);

}  // namespace paceline
