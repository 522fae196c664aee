// Overlap-Local-SGD: pulls local models toward an anchor, whose average is computed while the next
// block runs.
//
//   every step of a block     x_i  <-  a step of the inner optimizer with g_i  (inner_steps.hpp)
//   after its last            wait for the average that was begun a block ago:
//                                 v  <-  b v + (z - xbar) / gamma;  z  <-  z - gamma v
//                             x_i  <-  (1 - alpha) x_i + alpha z
//   and, as the next begins   begin the average xbar  <-  (1/n) sum over j of x_j
//
//   symbol   here                      meaning
//   x_i      self.model()              model of worker i
//   z        z                         anchor model, x(0) at first
//   v        v                         anchor momentum, 0 at first
//   xbar                               mean of the models as they were pulled a block ago
//   gamma    gamma                     learning rate of the last step of the block that began the
//                                      average
//   alpha    options.alpha             pull
//   b        options.anchor_momentum
//   tau      options.period            steps of a block
//
// In the released code each worker has a v_i and sends z - gamma v_i; the mean of these is the next
// z. z depends only on the mean of the v_i, so here z and v exist once. The messages weigh the
// same.
//
// At the first boundary no average has been begun: z is still x(0), and the first pull is toward
// it. At each later boundary the average is one block old. The worker blocks only if the average
// takes longer than the tau steps that it overlaps. An average is begun only if a further step is
// taken. An average in flight at the end of a run is dropped, and a partial last block has no pull.
// An average in flight is also lost when all workers die or restart: z and v then stay as they are
// at the end of that block.
// m_i carries on across pulls.
//
// With alpha = 0 and b = 0 the workers are independent, and z is the mean of their models a block
// ago. With alpha = 1 each block begins at z; if also b = 0, z never leaves x(0) and all progress
// is lost. A lone worker with alpha = 0 runs SGD.
//
// Source: Wang, Liang, Joshi, "Overlap Local-SGD: An Algorithmic Approach to Hide Communication
// Delays in Distributed SGD", ICASSP 2020 (arXiv 2002.09539); the update and its order: released
// code (JYWa/Overlap_Local_SGD), which first averages after tau + 1 steps; here after tau.
#pragma once

#include <cstdint>

#include "algorithms/exchange/exchange_options.hpp"
#include "algorithms/local/inner_steps.hpp"
#include "sim/engine/task.hpp"

namespace paceline {

class Worker;

struct OverlapLocalSgdOptions {
    std::int64_t period = 2;  // tau, 1 or more
    double alpha = 0.6;       // in [0, 1]
    double anchor_momentum = 0.7;
    ExchangeOptions exchange{};
    InnerRule inner = MomentumRule{};
};

Task<> overlap_local_sgd(Worker& self, OverlapLocalSgdOptions options);

}  // namespace paceline
