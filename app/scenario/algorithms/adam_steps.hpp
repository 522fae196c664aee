// Readers of the methods of the local family whose workers take steps of AdamW, or of another inner
// optimizer (algorithms/local/inner_steps.hpp).
#pragma once

#include <array>
#include <string_view>

#include "app/scenario/algorithms/algorithm_entry.hpp"

namespace paceline {

/// The names of "inner" and "outer", where a method takes them.
inline constexpr auto inner_optimizers =
    std::to_array<std::string_view>({"adamw", "lamb", "muon", "sgd"});
inline constexpr auto outer_optimizers =
    std::to_array<std::string_view>({"none", "sgd", "nesterov", "adam"});

AlgorithmChoice read_diloco(const ObjectReader& read, const AlgorithmInput& in);
AlgorithmChoice read_sparseloco(const ObjectReader& read, const AlgorithmInput& in);
AlgorithmChoice read_noloco(const ObjectReader& read, const AlgorithmInput& in);
AlgorithmChoice read_streaming_diloco(const ObjectReader& read, const AlgorithmInput& in);
AlgorithmChoice read_local_adam(const ObjectReader& read, const AlgorithmInput& in);
AlgorithmChoice read_sparta(const ObjectReader& read, const AlgorithmInput& in);

}  // namespace paceline
