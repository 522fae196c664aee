// Deep Gradient Compression: workers exchange only their largest accumulated gradients. The rest
// stay and grow.
//
// Source: Lin, Han, Mao, Wang, Dally. "Deep Gradient Compression: Reducing the Communication
// Bandwidth for Distributed Training." ICLR 2018. Where the paper leaves choices open, this follows
// the released code (synxlin/deep-gradient-compression).
//
// One step, on worker i of N, for each compressible tensor j (two dimensions or more) of n_j
// entries:
//
//   g   <-  min(1, c sqrt(N) / |g|) g      local clipping, by the norm of the whole gradient
//   g   <-  g + lambda x                   weight decay, if in the compressed path
//   u   <-  beta u + g                     momentum correction: each worker has its own momentum
//   v   <-  v + u                          velocity accumulates.  Nesterov: v + (beta u + g)
//   S   <-  the ceil(density n_j) largest |v|               (top_k.hpp: exact, or sampled)
//   send v on S;  v <- 0 on S;  u <- 0 on S                 momentum factor masking
//   x   <-  x - gamma mean_i sparse(v_i)   no second momentum
//
//   paper    here                 meaning
//   g_k      g / N                gradient of worker k. The paper's already holds the 1/N, and its
//                                 exchange sums. Here g is the mean over the worker's own batch
//                                 and the exchange forms the mean: u, v are N times the paper's
//   thr_k    c sqrt(N)            the paper clips |g_k| at c N^-1/2, c the threshold for the norm
//                                 of the global gradient; with g = N g_k that is c N^1/2 for |g|.
//                                 (The mean of N gradients of pure noise is sqrt(N) times shorter
//                                 than each.)
//   m        options.momentum     beta
//
// One-dimensional tensors are not compressed: a dense exchange forms their mean gradient, and
// ordinary momentum follows, m <- beta m + g, x <- x - gamma m (Nesterov: beta m + g). The sparse
// messages hold them (as the paper's ratios count them), or they are all-reduced apart. They are
// clipped with the rest of the gradient, before the exchange.
//
// Weight decay outside the compressed path, as in the released code: every worker keeps the same
// momentum of lambda x, d <- beta d + lambda x, and x <- x - gamma d in addition (Nesterov:
// lambda x + beta d). At density 1 without masking both places are momentum SGD with decay.
//
// Each part can be switched off (the paper's ablations):
//   momentum_correction off   v <- v + g; momentum on the mean after the exchange, as for
//                             one-dimensional tensors; nothing to mask. Gradient dropping does this
//   masking off               u is kept where entries were sent
//   accumulation off          v <- u: entries that are not sent are lost
//
// Exchange: a sparse all-reduce by recursive doubling, whose messages grow as supports merge, or an
// all-gather of all messages, which never merges. With values the weight of a message is measured
// (sparse_round.hpp); without values a declared law gives it (sparse.hpp). A tensor whose sparse
// form would weigh more than its dense form is sent dense. Where the whole exchange would move more
// than a dense all-reduce, that all-reduce carries the same values (exchange_choice.hpp). Selection
// takes simulated time (selection.hpp); `free` selects exactly. In half precision (SparseFormat),
// everything that is sent is cast; what the cast rounds off is lost.
//
// Warm-up: the density is higher in the first stages. The paper divides it by 4 per epoch:
// 0.25, 0.0625, 0.015625, 0.004, then 0.001.
//
// Density 1 leaves the compressed path. A step is one of dense momentum SGD, without selection:
//
//   m   <-  beta m + mean_i g_i (+ lambda x)       the mean is clipped at c, as in dense SGD
//   x   <-  x - gamma m                            Nesterov: mean + beta m
//
// v waits. The next sparse stage begins with u = m on all workers. A dense stage that follows a
// sparse one begins with m = 0 on compressible tensors, because the workers' u differ by then.
//
// Whose rules these are:
//   paper           is silent on density 1, and on densities whose messages outweigh dense ones
//   released code   takes the dense path at density 1 alone (its configuration wm5o warms up so),
//                   with the momentum, and the clipping of the mean, that are said above. At any
//                   lower density it gathers, whatever that costs. In a dense stage after a sparse
//                   one it would add the mean to momenta that differ, and models would drift apart
//   this project    the dense exchange below density 1 (exchange_choice.hpp), and m = 0
//
// If a tensor's v is not finite, nothing is selected from it: its first ceil(density n_j) entries
// are sent as NaN, so that the model diverges, as it would with dense exchange.
//
// Limits: one density for all tensors; the receivers of an all-gather know the sizes of its blocks
// without a message; where pieces are exchanged beside backward, gradients are not clipped, because
// the norm of the whole is not known yet.
#pragma once

#include "algorithms/exchange/exchange_presets.hpp"
#include "sim/engine/task.hpp"

namespace paceline {

class Worker;

struct DgcAlgorithmOptions {
    ExchangeOptions exchange =
        sparse_exchange(DgcOptions{});  // whose codec has the options (dgc_options.hpp)
};

/// Returns the exchange of stages of density 1: everything travels dense, by an all-reduce or the
/// servers that the sparse stages have. Requires DGC's codec.
ExchangeOptions dense_stage(const ExchangeOptions& sparse);

/// Requires DGC's codec.
Task<> dgc(Worker& self, DgcAlgorithmOptions all);

}  // namespace paceline
