// Closed forms for one step of CHOCO-SGD on an idle network, and what all compressing methods
// share.
//
//   E, D: time to encode and to decode (algorithms/compression/coding.hpp); V: bytes of a message
//
//   CHOCO-SGD           max(T1, L + d t(V)), then E + D of d messages, + update, where all workers
//                       have degree d; its first step is T1 + E + D + update
//
// Known where the exchange is known (step_models.hpp). As there, workers begin the step together.
// Methods that exchange have the forms of exchanges (exchange_forms.hpp).
#pragma once

#include <cstdint>
#include <optional>

#include "algorithms/compressed/choco_sgd.hpp"
#include "algorithms/compression/compressor.hpp"
#include "analysis/forms/step_models.hpp"
#include "topologies/mixing/mixing.hpp"

namespace paceline {

/// Returns the bytes of a packed vector: the bits of its tensors, rounded up once.
Bytes form_of_packed(const Compressor& compressor, const Layout& layout);

std::optional<Duration> choco_sgd_step_time(const ChocoSgdOptions& options, const Mixing& mixing,
                                            std::int64_t step, const StepModelInput& in);

}  // namespace paceline
