// SparseLoCo: DiLoCo whose outer gradients are sparse, with what is not sent in place of an outer
// momentum. Its loop is that of diloco.hpp, and these are its parts:
//
//   every step of a block       x_i  <-  a step of the inner optimizer with g_i  (inner_steps.hpp)
//   after its last              e_i  <-  beta e_i + (x_0 - x_i)
//                               q_i  <-  C(e_i);  e_i  <-  e_i - q_i
//                               D    <-  for each entry, the mean of q_j over the workers j that
//                                        sent it; 0 if nobody did
//                               x_0  <-  x_0 - eta D
//                               x_i  <-  x_0
//
//   symbol      here                        meaning
//   x_i         self.model()                model of worker i
//   x_0         outer.y                     where the block began: x(0) at first
//   e_i                                     what worker i has not sent, 0 at first; in the codec
//   C, beta     exchange.codec              chunked top-k in bins, error_decay
//                                           (compression/chunked_top_k.hpp)
//   eta         outer.rate                  constant
//   H           period                      steps of a block
//
// x_0 is equal on all workers and exists once. The exchange blocks; nothing overlaps. Bytes per
// step: those of an all-gather of the messages, divided by H. A partial last block has no outer
// step. Any codec and mean may take the place of C.
//
// Reductions: with a codec that sends all as it is and the mean of all it is DiLoCo with outer SGD
// without momentum; with eta = 1 in addition it is local Adam.
//
// Sources: Sarfi, Therien, Lidin, Belilovsky, "Communication Efficient LLM Pre-training with
// SparseLoCo", 2025 (arXiv 2508.15706; its abstract and reviews could be read, which write D as the
// mean over all; the released codes have the mean over senders); the rule and the
// defaults are those of one-covenant/templar, src/tplr/neurons.py and hparams/hparams.json @142666f
// (H 30, beta 0.95, k 64, 4 bins), eta 1 as its run of 72B parameters began (from reviews of arXiv
// 2603.08163; 0.4 in that file). templar also scales down messages whose norm is above the median
// of all, and gets them from a store; neither is modeled. CCLoco, its first form (tplr-ai/CCLoco,
// src/tplr/ccloco.py @c01a785: H 15, beta 0.999, k 32, 256 bins), has eta in e_i, too: its eta
// squared is the one above, since C is scale-free.
#pragma once

#include "algorithms/local/diloco.hpp"

namespace paceline {

/// Returns the parts of which DiLoCo becomes SparseLoCo.
DilocoOptions sparseloco();

}  // namespace paceline
