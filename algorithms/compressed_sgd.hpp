// Synchronous SGD with compressed gradients: dense SGD whose gradients go through a compressor.
//
//   c_i  <-  C(g_i)                        or, with error feedback:  C(g_i + e_i)
//   x    <-  momentum_step with (1/n) sum over i of decoded(c_i)     (optimizers/momentum.hpp)
//
//   symbol   here                    meaning
//   g_i      v                       stochastic gradient of worker i at x
//   C        options.compressor      what is sent (compression/compressor.hpp)
//   e_i      e                       what worker i has not sent yet, 0 at first
//                                    (compression/error_feedback.hpp)
//
// Messages that add up are all-reduced; others are all-gathered, each worker receives n - 1 of them
// and decodes n. Momentum, Nesterov, decay and clipping come after the mean. x and m exist once, e
// once per worker. e is kept whatever the learning rate does: it is in units of gradients.
//
// Blocks: gradient, then encoding, exchange, decoding, update; nothing overlaps. With a compressor
// that loses nothing it is dense SGD. Alone (n = 1) it sends nothing, and still encodes and decodes:
// it is not plain SGD unless the compressor loses nothing.
//
// Sources: those of the compressors; the order of steps as in released code (sands-lab/grace).
// Limits: one compressor for all tensors; every tensor is compressed, those of one dimension too.
#pragma once

#include "algorithms/compression/compressor.hpp"
#include "algorithms/optimizers/momentum.hpp"
#include "algorithms/worker.hpp"

namespace paceline {

struct CompressedSgdOptions {
    Compressor compressor;
    bool error_feedback = true;
    AllReducePlan all_reduce{};              // of messages that add up
    AllGather all_gather = AllGather::ring;  // of others
    CodingCost coding{};
    MomentumRule rule{};
};

/// What encoding takes a worker in each step, and decoding among n workers.
Duration encoding_time(const CompressedSgdOptions& options, const Layout& layout);
Duration decoding_time(const CompressedSgdOptions& options, const Layout& layout, int n);

Task<> compressed_sgd(Worker& self, CompressedSgdOptions options);

}  // namespace paceline
