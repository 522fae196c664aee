// Local Adam: workers take tau steps of AdamW alone, and average their models. Its loop is that of
// local_sgd.hpp, and these are its parts:
//
//   every step               x_i  <-  adam_step with g_i, m_i, v_i
//                                     (optimizers/adam.hpp)
//   after the last of tau    x_i  <-  (1/n) sum over j of x_j
//                            m_i, v_i as `buffers` says:  maintain   they stay local and go on
//                                                         average    the same means of m and v
//                                                         reset      0, and Adam counts from 1
//                                                         again
//
//   symbol         here             meaning
//   x_i            self.model()     model of worker i
//   m_i, v_i       inner            of Adam, 0 at first
//   tau            options.period   steps of a block
//
// Every average blocks; m and v are averaged behind x, one after the other. Bytes per step: those
// of an all-reduce of the model, or of three, divided by tau.
//
// Reductions: with buffers maintained it is DiLoCo with outer rate 1 and no outer momentum, and
// SlowMo over local-adam with alpha 1, beta 0. With tau = 1 and buffers averaged all workers hold
// the same state. One worker is sequential AdamW.
//
// Source: the local Adam of SlowMo (Wang et al., ICLR 2020: buffers maintained), and "Local Adam"
// of Cheng and Glasgow, ICLR 2025 (arXiv 2409.13155; the abstract was read). That it averages all
// three: DES-LOC (Iacob et al., 2025, arXiv 2505.22549), which counts three times the bytes for it.
#pragma once

#include "algorithms/local/local_sgd.hpp"

namespace paceline {

/// Returns the parts of which local SGD becomes local Adam.
[[nodiscard]] inline LocalSgdOptions local_adam() {
    return {.period = 1, .inner = AdamRule{}};
}

}  // namespace paceline
