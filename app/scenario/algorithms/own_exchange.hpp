// The "codec", "aggregation" and "schedule" of methods whose messages are their own: push-sum,
// pairs, servers of models, and differences between neighbors. They have one aggregation and one
// schedule, which a scenario may name; some choose what they encode.
#pragma once

#include <optional>

#include "algorithms/coders/codec.hpp"
#include "app/scenario/algorithms/algorithm_entry.hpp"

namespace paceline {

/// Refuses a codec, aggregation or schedule that such a method does not have. Does nothing for
/// methods whose exchange is a choice (exchange.hpp).
void check_own_exchange(const ObjectReader& read, const AlgorithmInput& in);

/// Reads the codec of a method that encodes vectors itself: a compressor, without tensors that are
/// left out. `feedback`: it can keep errors.
Codec read_own_codec(const Place& place, const AlgorithmInput& in, bool feedback);

}  // namespace paceline
