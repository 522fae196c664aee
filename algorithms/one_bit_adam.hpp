// 1-bit Adam: after a warm-up Adam's variance is frozen, and momenta are averaged by one bit an
// entry.
//
// The variance is not linear in the gradient, so error feedback cannot go through it. Once frozen
// it is a fixed preconditioner, what remains is momentum SGD, and its momentum can be compressed.
//
//   warm-up, the first F steps       Adam over an exact all-reduce, without bias correction
//   afterwards
//     m_i  <-  beta1 m + (1 - beta1) g_i      m the shared momentum, g_i the worker's own gradient
//     m    <-  compressed mean of the m_i     (one_bit_all_reduce.hpp)
//     m    <-  0 where v = 0                  if masked
//     x    <-  x - gamma (m / (sqrt(v) + epsilon) + lambda x)
//
//   symbol   here                   meaning
//   F        options.freeze_step    steps of the warm-up. The released code counts a first call,
//                                   which only initializes and loses a gradient: its F is one more
//   v        v                      variance, frozen after the warm-up
//
// A bit cannot say that a momentum is 0, and where no gradient ever came v is 0 and 1/epsilon a huge
// step. The released code asks its user for masks of such entries; here they are those whose
// variance is exactly 0 when it is frozen.
//
// The released code compresses every tensor by a call of its own, four collectives each; fused, one
// call compresses the whole model, by one scale. Nothing overlaps. x, m, v exist once; each worker
// keeps an error of the model's size. Alone a worker still compresses: it is not Adam then.
//
// Source: Tang, Gan, Awan, et al., "1-bit Adam: Communication Efficient Large-Scale Training with
// Adam's Convergence Speed", arXiv 2102.02888; the rule from the released code (DeepSpeed,
// runtime/fp16/onebit/adam.py).
#pragma once

#include <cstdint>

#include "algorithms/compression/coding.hpp"
#include "algorithms/optimizers/adam.hpp"
#include "algorithms/worker.hpp"

namespace paceline {

struct OneBitAdamOptions {
    AllReducePlan all_reduce{};  // of the warm-up
    AdamRule rule{.bias_correction = false};
    std::int64_t freeze_step = 100'000;  // F
    bool fused = false;
    bool mask = true;
    CodingCost coding{};
};

/// Requires a rule without bias correction.
Task<> one_bit_adam(Worker& self, OneBitAdamOptions options);

}  // namespace paceline
