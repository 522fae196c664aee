// DeMo, decoupled momentum: workers keep momenta that differ, and exchange their strongest
// frequencies; the step goes along signs.
//
//   d_i  <-  beta d_i + gamma g_i                       momentum of worker i; never averaged
//   q_i  <-  the k largest components of each chunk of DCT(d_i)
//            (compression/chunked_dct.hpp)
//   d_i  <-  d_i - IDCT(q_i)                            what is sent leaves the momentum
//   Q    <-  for each component, the mean over the workers that sent it; 0 if nobody did
//   x    <-  (1 - gamma lambda) x - gamma sign(IDCT(Q))
//
//   symbol    here                    meaning
//   x         self.replicated_model() model, equal on all workers
//   g_i                               stochastic gradient of worker i at x
//   d_i       momentum                0 at first
//   beta      decay                   in [0, 1]
//   k, s      components, chunk       a chunk has at most s x s entries
//   gamma                             learning rate;  lambda the optimizer's decay, decoupled
//
// A message holds k components of each chunk, value and position of each; chunks of k or fewer
// entries travel whole, with positions. Messages travel by an all-gather, which blocks; nothing
// overlaps. Bytes per step and worker: 12 k / s^2 for each entry by default. The transform of what
// arrives is charged on every worker, and computed once.
//
// Reductions: with k = s^2 and beta = 0 nothing stays behind, and the step goes along the sign of
// the mean gradient. One worker with k = s^2 is sign SGD.
//
// Source: Peng, Quesnelle, Kingma, "DeMo: Decoupled Momentum Optimization", 2024 (arXiv 2411.19870;
// only the abstract could be read). The rule is that of the released optimizer (bloc97/DeMo,
// demo.py; read in copies such as templar's), with its values beta 0.999, s 64, k 32 and its
// messages: 64-bit positions, 32-bit values. With these, OLMo-1B's 1,176,764,416 parameters make
// 110.32 MB per step, the figure of the paper's table (from memory, unverified).
#pragma once

#include <cstdint>

#include "algorithms/compression/coding.hpp"
#include "algorithms/compression/compressor.hpp"
#include "models/tensors/layout.hpp"
#include "sim/collectives/all_gather.hpp"
#include "sim/engine/task.hpp"

namespace paceline {

class Worker;

struct DemoOptions {
    double decay = 0.999;          // beta
    std::int64_t chunk = 64;       // s
    std::int64_t components = 32;  // k
    std::int64_t bytes_per_component = 12;
    double weight_decay = 0;  // lambda
    AllGather all_gather = AllGather::ring;
    CodingCost coding{};
};

/// Returns messages and coding as a compressor says them: encoding makes seven passes (the sum, two
/// for each transform, the selection, the difference), decoding one over what a message holds.
Compressor demo_messages(const DemoOptions& options);

/// Passes over the entries behind the messages: the inverse transform and the signs.
inline constexpr std::int64_t demo_passes_behind = 3;

Task<> demo(Worker& self, DemoOptions options);

}  // namespace paceline
