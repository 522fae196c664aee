// Local Adam: workers take tau steps of AdamW alone, and average their models.
//
//   every step               x_i  <-  adam_step with g_i, m_i, v_i
//                                     (optimizers/adam.hpp)
//   after the last of tau    x_i  <-  (1/n) sum over j of x_j
//                            m_i, v_i as `buffers` says:  maintain   they stay local and go on
//                                                         average    the same means of m and v
//                                                         reset      0, and Adam counts from 1
//                                                         again
//
//   symbol         here           meaning
//   x_i            self.model()   model of worker i
//   m_i, v_i       m, v           of Adam, 0 at first
//   tau            period         steps of a block
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

#include <cstdint>

#include "algorithms/exchange/exchange_options.hpp"
#include "algorithms/local/slowmo.hpp"
#include "algorithms/optimizers/adam.hpp"
#include "sim/engine/task.hpp"

namespace paceline {

class Worker;

struct LocalAdamOptions {
    std::int64_t period = 1;
    Buffers buffers = Buffers::maintain;
    ExchangeOptions exchange{};
    AdamRule rule{};
};

/// Returns how many vectors are averaged at the end of a block.
[[nodiscard]] constexpr int averaged_vectors(const LocalAdamOptions& options) {
    return options.buffers == Buffers::average ? 3 : 1;
}

Task<> local_adam(Worker& self, LocalAdamOptions options);

}  // namespace paceline
