// Closed forms for one step of the compressing methods, on an idle network.
//
//   E, D: time to encode and to decode (algorithms/compression/coding.hpp); V: bytes of a message
//
//   compressed SGD      T1 + E + X + D + update   X: all-reduce of V, or all-gather of blocks of V;
//   signSGD                                       D: of one message, or of n
//   EF-signSGD
//   PowerSGD            T1 + E + all-reduce of 4 (sum r a + 1-D) + all-reduce of 4 sum r c
//                       + update,  E: of all five passes
//   CHOCO-SGD           max(T1, L + d t(V)), then E + D of d messages, + update, where all workers
//                       have degree d; its first step is T1 + E + D + update
//
// Known where the exchange is known (step_models.hpp). As there, workers begin the step together.
#pragma once

#include <cstdint>
#include <optional>

#include "algorithms/compressed/choco_sgd.hpp"
#include "algorithms/compression/compressor.hpp"
#include "algorithms/exchange/exchange_options.hpp"
#include "analysis/forms/step_models.hpp"
#include "topologies/mixing/mixing.hpp"

namespace paceline {

/// Returns the bytes of a packed vector: the bits of its tensors, rounded up once.
Bytes form_of_packed(const Compressor& compressor, const Layout& layout);

std::optional<Duration> all_gather_time(AllGather how, int n, Bytes block,
                                        const IdleNetwork& network);

/// Whole messages of a compressor after backward, all-reduced or all-gathered flat; `passes` are those
/// of the algorithm before encoding.
std::optional<Duration> compressed_step_time(const ExchangeOptions& options, std::int64_t passes,
                                             const StepModelInput& in);
std::optional<Duration> low_rank_step_time(const ExchangeOptions& options,
                                           const StepModelInput& in);
std::optional<Duration> choco_sgd_step_time(const ChocoSgdOptions& options, const Mixing& mixing,
                                            std::int64_t step, const StepModelInput& in);

}  // namespace paceline
