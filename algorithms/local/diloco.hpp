// DiLoCo: workers take H steps of AdamW alone; how far they have come, averaged, is a gradient for
// an outer SGD with Nesterov momentum. With Muon in place of AdamW it is MuLoCo.
//
//   every step of a block       x_i   <-  a step of the inner optimizer with g_i, m_i, v_i
//                                         (inner_steps.hpp)
//   after its last              D     <-  (1/n) sum over j of (x_0 - x_j)        the outer gradient
//                               x_0   <-  a step of the outer optimizer with D, as
//                                         u   <- mu u + D
//                                         x_0 <- x_0 - eta (D + mu u)            (outer_steps.hpp)
//                               x_i   <-  x_0
//
//   symbol      here                          meaning
//   x_i         self.model()                  model of worker i
//   x_0         outer.y                       where the block began: x(0) at first
//   g_i                                       its stochastic gradient at x_i
//   m_i, v_i    inner                         of AdamW, LAMB or Muon, 0 at first; they stay local
//                                             and go on across blocks
//   u           outer.m                       outer momentum, 0 at first
//   eta, mu     options.outer                 constant; the job's learning rate is that of the
//                                             inner steps
//   H           period                        steps of a block
//
// Other outer optimizers take the place of Nesterov's. x_0 and u are equal on all workers and exist
// once. The average blocks; nothing overlaps. Bytes
// per step: those of an all-reduce of the model, divided by H. A partial last block has no outer
// step.
//
// Reductions: with eta = 1 and mu = 0 it is local Adam with averages (SlowMo over local-adam, alpha
// = 1, beta = 0, buffers maintained), and with H = 1 in addition averaged AdamW; one worker is then
// sequential AdamW. The outer step is that of BMUF's form "nesterov" with block momentum mu and
// block learning rate eta, in other variables (bmuf.hpp: W = y - mu d).
//
// Source: Douillard et al., "DiLoCo: Distributed Low-Communication Training of Language Models",
// 2023 (arXiv 2311.08105). The rule and its values are those of released code
// (PrimeIntellect-ai/OpenDiloco, open_diloco/train_diloco_torch.py @828b643: H 500, outer SGD 0.7
// with Nesterov 0.9, betas 0.9 and 0.95, decay 0.1); its clipping of gradients to norm 1 is not
// modeled. The paper's text was not available. MuLoCo: Therien et al., 2025 (arXiv 2505.23725,
// whose text was not available), by the authors' released code (bentherien/muloco-1,
// muloco/pytorch/muloco.py @415f393: inner Muon of form dion, outer 0.7 and 0.6, H 30), which has
// one worker; its u is eta times the u above.
#pragma once

#include <cstdint>

#include "algorithms/exchange/exchange_options.hpp"
#include "algorithms/local/inner_steps.hpp"
#include "algorithms/local/outer_steps.hpp"
#include "sim/engine/task.hpp"

namespace paceline {

class Worker;

struct DilocoOptions {
    std::int64_t period = 500;   // H, 1 or more
    OuterRule outer{};           // Nesterov
    ExchangeOptions exchange{};  // of the outer gradients
    InnerRule inner{};           // AdamW
};

Task<> diloco(Worker& self, DilocoOptions options);

}  // namespace paceline
