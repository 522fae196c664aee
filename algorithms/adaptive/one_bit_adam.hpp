// 1-bit Adam: after a warm-up, Adam's variance is frozen and momenta are averaged with one bit per
// entry.
//
// The variance is not linear in the gradient, so error feedback cannot correct it. Once frozen, it
// is a fixed preconditioner. What remains is momentum SGD, whose momentum can be compressed.
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
// One bit cannot express a momentum of 0. Where no gradient ever came, v is 0 and dividing by
// epsilon makes the step huge. The released code asks its user to mask such entries. Here the
// masked entries are those whose variance is exactly 0 when it is frozen.
//
// The released code compresses each tensor in a call of its own, with four collectives each. With
// `fused`, one call compresses the whole model with one scale. Nothing overlaps unless the schedule
// of the compressed means says so; beside backward or into the next forward pass, pieces have calls
// of their own. The warm-up stays whole and after backward. x, m and v exist once; each worker
// keeps an error of the model's size. A lone worker still compresses, so it does not run plain
// Adam.
//
// Into forward, m_i of step k+1 is formed from the m of step k: backward begins when the last piece
// of step k has arrived and m has been updated. The models are therefore those of a step that waits
// for all pieces.
//
// Source: Tang, Gan, Awan, et al., "1-bit Adam: Communication Efficient Large-Scale Training with
// Adam's Convergence Speed", arXiv 2102.02888; the rule from the released code (DeepSpeed,
// runtime/fp16/onebit/adam.py).
#pragma once

#include <cstdint>

#include "algorithms/exchange/exchange_presets.hpp"
#include "algorithms/optimizers/adam.hpp"
#include "sim/engine/task.hpp"

namespace paceline {

class Worker;

struct OneBitAdamOptions {
    ExchangeOptions warm_up{};                                     // of the exact means
    ExchangeOptions exchange = one_bit_exchange(/*fused=*/false);  // of the compressed ones
    AdamRule rule{.bias_correction = false};
    std::int64_t freeze_step = 100'000;  // F
    bool mask = true;
};

/// Requires a rule without bias correction.
Task<> one_bit_adam(Worker& self, OneBitAdamOptions options);

}  // namespace paceline
