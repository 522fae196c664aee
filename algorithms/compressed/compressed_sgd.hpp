// Synchronous SGD with compressed gradients: dense SGD with a compressor on each worker's gradient.
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
// Summable messages are all-reduced. Others are all-gathered: each worker receives n - 1 messages
// and decodes n. Momentum, Nesterov, decay and clipping apply after the mean. x and m are stored
// once, e once per worker. e does not change with the learning rate, because it is in units of
// gradients.
//
// Blocks: gradient, then encoding, exchange, decoding, update; nothing overlaps. With a lossless
// compressor it is dense SGD. With n = 1 it sends nothing but still encodes and decodes, so it is
// plain SGD only if the compressor is lossless.
//
// Sources: those of the compressors; the order of steps follows released code (sands-lab/grace).
// Limits: one compressor for all tensors; one-dimensional tensors are compressed too.
#pragma once

#include "algorithms/compression/compressor.hpp"
#include "algorithms/optimizers/momentum.hpp"
#include "models/tensors/layout.hpp"
#include "sim/collectives/all_gather.hpp"
#include "sim/collectives/all_reduce_plan.hpp"
#include "sim/engine/task.hpp"
#include "sim/engine/units.hpp"

namespace paceline {

class Worker;

struct CompressedSgdOptions {
    Compressor compressor;
    bool error_feedback = true;
    AllReducePlan all_reduce{};              // for summable messages
    AllGather all_gather = AllGather::ring;  // for the others
    CodingCost coding{};
    MomentumRule rule{};
};

/// Return the time that a worker spends per step on encoding, and on decoding among n workers.
Duration encoding_time(const CompressedSgdOptions& options, const Layout& layout);
Duration decoding_time(const CompressedSgdOptions& options, const Layout& layout, int n);

Task<> compressed_sgd(Worker& self, CompressedSgdOptions options);

}  // namespace paceline
