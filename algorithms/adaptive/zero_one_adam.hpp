// 0/1 Adam: refreshes the variance ever more rarely and sends gradients with one bit per entry in
// between. Once the variance is frozen, workers take local steps between exchanges.
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
//       x_i  <-  a + u / (sqrt(v) + epsilon),  a the model of all after the last exchange
//       u_i  <-  0,  L <- 0
//     after every `local_step_scaler` steps:  J <- min(2 J, local_step_clipper)
//
//   symbol   here                meaning
//   F        var_freeze_step     the variance may change in the first F + 1 steps: the released
//                                code tests step > F at the end of a step
//   s        k + 1               number of the step. The released code counts its first call, which
//                                only initializes, as a step; there is no such call here
//   I, J                         intervals of variance and of local steps; powers of two
//
// The rebuilt m_i includes the weight decay, as in the released code. That code skips compression
// if there is only one worker. Here a lone worker compresses, as in the other 1-bit methods. Each
// tensor is compressed in a call of its own (fused: one call for the model). Nothing overlaps.
//
// Source: Lu, Li, Zhang, De Sa, He, "Maximizing Communication Efficiency for Large-scale Training
// via 0/1 Adam", arXiv 2202.06009; the rule from the released code (DeepSpeed,
// runtime/fp16/onebit/zoadam.py). The paper writes the intervals as an exponential, the code
// doubles.
#pragma once

#include <cstdint>

#include "algorithms/exchange/exchange_presets.hpp"
#include "algorithms/optimizers/adam.hpp"
#include "sim/engine/task.hpp"

namespace paceline {

class Worker;

struct ZeroOneAdamOptions {
    ExchangeOptions exact{};                                       // of the exact means
    ExchangeOptions exchange = one_bit_exchange(/*fused=*/false);  // of the compressed ones
    AdamRule rule{.bias_correction = false};
    std::int64_t var_freeze_step = 100'000;  // F
    std::int64_t var_update_scaler = 16;
    std::int64_t local_step_scaler = 32'678;
    std::int64_t local_step_clipper = 16;  // a power of two
    bool mask = true;
};

/// What a step exchanges, if anything.
enum class ZeroOneStep : std::uint8_t { exact, compressed_gradient, local, compressed_update };

/// Returns the kind of step k = 0, 1, ...
ZeroOneStep zero_one_step(const ZeroOneAdamOptions& options, std::int64_t k);

/// Returns a number that identifies the stretch of step k. Steps of one stretch all exchange the
/// same, or repeat with `local_step_clipper` as their period. Different stretches have different
/// numbers.
std::int64_t zero_one_stretch(const ZeroOneAdamOptions& options, std::int64_t k);

/// Returns how many steps share one exchange at step k: 1 in the variance phase, then J.
std::int64_t zero_one_interval(const ZeroOneAdamOptions& options, std::int64_t k);

/// Requires a rule without bias correction.
Task<> zero_one_adam(Worker& self, ZeroOneAdamOptions options);

}  // namespace paceline
