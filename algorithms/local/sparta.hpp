// SPARTA: workers train alone, and average a random share of their parameters in every step.
//
//   every step    x_i     <-  a step of the inner optimizer with g_i            (inner_steps.hpp)
//                 S       <-  max(floor(p N), 1) of the N entries, drawn uniformly without
//                             replacement (Floyd), the same on all workers
//                 x_i[S]  <-  (1/n) sum over j of x_j[S]
//
//   symbol      here            meaning
//   x_i         self.model()    model of worker i
//   m_i, v_i    inner           of the inner optimizer, 0 at first; they stay local
//   S           drawn           for each entry, whether it is in S (compression/sparsifiers.hpp)
//   p           share           in (0, 1]
//
// The mean of the models is that of the steps: averages keep it. Where steps agree, the spread of
// the models falls by 1 - p a step. The average blocks; nothing overlaps. Bytes per step: those of
// an exchange of p N entries. S costs no message, since all draw it from the same stream. Averages
// keep m and v, which do not fit the averaged entries at once.
//
// Reductions: with p = 1 it is local Adam with averages in every step. One worker is sequential
// AdamW.
//
// Source: released code (exo-explore/gym, exogym/strategy/sparta.py: p 0.005, AdamW inside), which
// draws each entry of each tensor on its own, so that the size of S varies, and sends the mask of
// rank 0. Its paper is not modeled beyond that: neither stale averages nor SPARTA within DiLoCo.
#pragma once

#include "algorithms/exchange/exchange_options.hpp"
#include "algorithms/local/inner_steps.hpp"
#include "sim/engine/task.hpp"

namespace paceline {

class Worker;

struct SpartaOptions {
    double share = 0.005;  // p
    ExchangeOptions exchange{};
    InnerRule inner{};  // AdamW
};

Task<> sparta(Worker& self, SpartaOptions options);

}  // namespace paceline
