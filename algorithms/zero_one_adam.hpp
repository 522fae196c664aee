// 0/1 Adam: the variance is refreshed ever more rarely, gradients between cost one bit an entry,
// and once the variance is frozen workers take steps of their own between exchanges.
//
//   variance phase, steps s = 1 .. F + 1; I = 1 at first
//     s mod I = 0:  g = exact mean;  v <- beta2 v + (1 - beta2) g^2
//     otherwise:    g = compressed mean of the g_i                   (one_bit_all_reduce.hpp)
//     m  <-  beta1 m + (1 - beta1) g
//     x  <-  x - gamma (m / (sqrt(v) + epsilon) + lambda x)
//     after every `var_update_scaler` refreshes of v:  I <- 2 I
//   local phase, errors zero again; J = 1, L = 0, u = 0 at first, x_i = x, m_i = m
//     m_i  <-  beta1 m_i + (1 - beta1) g_i;   L <- L + gamma
//     d    =   m_i / (sqrt(v) + epsilon) + lambda x_i
//     x_i  <-  x_i - gamma d;   u_i <- u_i - gamma d
//     s mod J = 0:
//       u    <-  compressed mean of (sqrt(v) + epsilon) u_i,  0 where v = 0 if masked
//       m_i  <-  -u / L
//       x_i  <-  a + u / (sqrt(v) + epsilon),  a what all had after the last exchange
//       u_i  <-  0,  L <- 0
//     after every `local_step_scaler` steps:  J <- min(2 J, local_step_clipper)
//
//   symbol   here                meaning
//   F        var_freeze_step     the variance may change in the first F + 1 steps: the released
//                                code tests step > F when a step is over
//   s        k + 1               number of the step. The released code's first call, which only
//                                initializes, counts as one there and is not made here
//   I, J                         intervals of variance and of local steps; powers of two
//
// The rebuilt m_i holds the weight decay, as in the released code. That code skips the compression
// where there is one worker alone; here a lone worker compresses, as with the other 1-bit methods.
// Every tensor is a call of its own (fused: one for the model). Nothing overlaps.
//
// Source: Lu, Li, Zhang, De Sa, He, "Maximizing Communication Efficiency for Large-scale Training via
// 0/1 Adam", arXiv 2202.06009; the rule from the released code (DeepSpeed,
// runtime/fp16/onebit/zoadam.py). The paper writes the intervals as an exponential, the code
// doubles.
#pragma once

#include <cstdint>

#include "algorithms/compression/coding.hpp"
#include "algorithms/optimizers/adam.hpp"
#include "algorithms/worker.hpp"

namespace paceline {

struct ZeroOneAdamOptions {
    AllReducePlan all_reduce{};  // of the exact means
    AdamRule rule{.bias_correction = false};
    std::int64_t var_freeze_step = 100'000;  // F
    std::int64_t var_update_scaler = 16;
    std::int64_t local_step_scaler = 32'678;
    std::int64_t local_step_clipper = 16;  // a power of two
    bool fused = false;
    bool mask = true;
    CodingCost coding{};
};

/// What a step exchanges.
enum class ZeroOneStep : std::uint8_t { exact, compressed_gradient, local, compressed_update };

/// Of step k = 0, 1, ...
ZeroOneStep zero_one_step(const ZeroOneAdamOptions& options, std::int64_t k);

/// Equal for steps of one stretch, in which all exchange the same or repeat with the clipper as
/// their period; another number for every other stretch.
std::int64_t zero_one_stretch(const ZeroOneAdamOptions& options, std::int64_t k);

/// Requires a rule without bias correction.
Task<> zero_one_adam(Worker& self, ZeroOneAdamOptions options);

}  // namespace paceline
