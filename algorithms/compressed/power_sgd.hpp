// PowerSGD: compresses gradients to matrices of low rank with one step of power iteration, and
// all-reduces the factors directly.
//
// For each tensor of two dimensions or more, as a matrix M of a x c (compression/low_rank.hpp):
//
//   M_i  <-  g_i + e_i
//   P    <-  (1/n) sum over i of M_i Q          all-reduce of 4 r a bytes
//   P    <-  orthonormal columns of P
//   Q    <-  (1/n) sum over i of M_i^T P        all-reduce of 4 r c bytes
//   M    <-  P Q^T
//   e_i  <-  M_i - M
//   x    <-  momentum_step with M               (optimizers/momentum.hpp)
//            with Nesterov:  m <- beta m + M,  x <- x - gamma (M + m)   (released code)
//
//   symbol   here           meaning
//   g_i                     gradient of worker i at x
//   e_i      e              the error: the part of M_i that is missing from M, 0 at first
//   r        options.rank   columns of P and Q, min(rank, a, c)
//   Q        replicated     N(0, 1) at first, from a common seed; then the last Q (warm start)
//
// Tensors of one dimension are averaged uncompressed, without an error; they travel with P.
// Momentum, Nesterov, decay and clipping are applied after the mean. x, m, P, Q and M are equal on
// all workers and exist once; e exists once per worker. At full rank M is the mean of the M_i and
// the errors add up to 0, so the method is dense SGD.
//
// A step blocks throughout: gradient, M Q, all-reduce, M^T P, all-reduce, P Q^T, update; nothing
// overlaps. A lone worker (n = 1) sends nothing but still trains with M. Coding makes five passes
// over the entries: two before the first all-reduce (the sum, M Q), one between the two, and two
// after the second (P Q^T, the error). Orthonormalizing is free.
//
// Source: Vogels, Karimireddy, Jaggi, NeurIPS 2019; form: released code (epfml/powersgd).
// Differences: here Gram-Schmidt runs twice and divides by the norm without adding a small number;
// the released code sends tensors of one dimension in messages of their own. Not modeled: its later
// package (one factor per step, a first phase without compression, tensors that are too small to
// gain).
#pragma once

#include "algorithms/exchange/exchange_presets.hpp"
#include "algorithms/optimizers/momentum.hpp"
#include "sim/engine/task.hpp"

namespace paceline {

class Worker;

struct PowerSgdOptions {
    ExchangeOptions exchange = low_rank_exchange(2, {});
    MomentumRule rule{};
};

/// Requires the codec of low rank.
Task<> power_sgd(Worker& self, PowerSgdOptions options);

}  // namespace paceline
