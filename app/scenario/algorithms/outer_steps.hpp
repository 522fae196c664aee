// Readers of the methods of the local family that have an outer optimizer which several share
// (algorithms/local/outer_steps.hpp), or send a part of the model.
#pragma once

#include <array>
#include <string_view>

#include "app/scenario/algorithms/algorithm_entry.hpp"

namespace paceline {

/// The names of "outer", where a method takes it.
inline constexpr auto outer_optimizers =
    std::to_array<std::string_view>({"none", "sgd", "nesterov", "adam"});

AlgorithmChoice read_diloco(const ObjectReader& read, const AlgorithmInput& in);
AlgorithmChoice read_sparseloco(const ObjectReader& read, const AlgorithmInput& in);
AlgorithmChoice read_noloco(const ObjectReader& read, const AlgorithmInput& in);
AlgorithmChoice read_streaming_diloco(const ObjectReader& read, const AlgorithmInput& in);
AlgorithmChoice read_sparta(const ObjectReader& read, const AlgorithmInput& in);

}  // namespace paceline
