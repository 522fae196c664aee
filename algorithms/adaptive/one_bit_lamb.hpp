// 1-bit LAMB: after a warm-up, the variance and the layer-wise rates of LAMB are frozen and momenta
// are averaged with one bit per entry. A factor per layer then adapts the frozen rates, using a
// fresh variance and within bounds.
//
//   warm-up, the first F steps     LAMB over an exact all-reduce, no bias correction, trust ratios
//                                  clipped to [least, most]; and for every tensor l
//     c_l  <-  cb c_l + (1 - cb) t_l             its trust ratio t_l, where it is not 1
//   once, at the end of the warm-up
//     u    <-  v                                 the fresh variance starts as the frozen one
//     k_l  <-  mean over l of rms(m_l) / rms(m_l)       so that one scale fits all tensors
//   afterwards
//     m_i  <-  beta1 m + (1 - beta1) g_i         m the shared momentum, g_i the worker's own
//     m'   <-  compressed mean of the k_l m_i    one call for the model; errors are scaled, too
//     m'_l <-  m'_l / k_l,  0 where v = 0 if masked
//     g    <-  (m' - beta1 m) / (1 - beta1),  m <- m'       the averaged gradient, rebuilt
//     u    <-  beta2 u + (1 - beta2) g^2
//     D    =   sqrt(v) + epsilon,  r0 = m / D,  r = r0 + lambda x
//     f_l  =   max over the entries of l of D / (sqrt(u) + epsilon)
//     f_l  <-  f_l q + (1 - q),  q = min(1, |r0_l| / |r_l|)               if lambda > 0
//     f_l  <-  f_l clipped to [factor_min, factor_max], then to (1 -+ thr) times its last value
//     x_l  <-  x_l - gamma c_l f_l r_l
//
//   symbol    here                        meaning
//   F         freeze_step                 steps of the warm-up (one_bit_adam.hpp says how counted)
//   cb        coeff_beta                  1/(1 - cb) should not exceed F: c_l starts at 0
//   least     rule.min_trust              min_coeff of the released code
//   most      rule.max_trust              max_coeff of the released code
//   thr       factor_threshold            how much f_l may change in a step; f_l starts at 1
//   v, u      v, fresh                    frozen and fresh variance
//
// Where the momentum of a tensor is all zero, k_l is 1 and the tensor is left out of the mean.
// Masking and schedules work as in 1-bit Adam. All state except the workers' errors exists once. A
// lone worker still compresses.
//
// Source: Li, Awan, Tang, Rajbhandari, He, "1-bit LAMB: Communication Efficient Large-Scale
// Large-Batch Training with LAMB's Convergence Speed", arXiv 2104.06069; the rule from the released
// code (DeepSpeed, runtime/fp16/onebit/lamb.py).
#pragma once

#include <cstdint>

#include "algorithms/exchange/exchange_presets.hpp"
#include "algorithms/optimizers/lamb.hpp"
#include "models/tensors/vector.hpp"
#include "sim/engine/task.hpp"

namespace paceline {

class Worker;

struct OneBitLambOptions {
    ExchangeOptions warm_up{};                                    // of the exact means
    ExchangeOptions exchange = one_bit_exchange(/*fused=*/true);  // of the compressed ones
    LambRule rule{.adam = {.bias_correction = false}, .min_trust = 0.01, .max_trust = 10};
    std::int64_t freeze_step = 100'000;  // F, above 0
    double coeff_beta = 0.9;             // cb
    double factor_min = 0.5;
    double factor_max = 4;
    double factor_threshold = 0.1;  // thr
    bool mask = true;
};

/// Returns k_l for every tensor of a momentum m; 1 where the tensor is all zero. Requires values.
Eigen::VectorXd momentum_scales(const Vector& m);

/// Returns f_l of one tensor. `factor` is the maximum over its entries of D / (sqrt(u) + epsilon),
/// q is 1 without weight decay, and the result is clipped relative to `last`, the previous f_l.
double clipped_factor(const OneBitLambOptions& options, double factor, double q, double last);

/// Requires a rule without bias correction, and freeze_step >= 1.
Task<> one_bit_lamb(Worker& self, OneBitLambOptions options);

}  // namespace paceline
