// Readers of the methods of the local family that send a part of the model at a time.
#pragma once

#include "app/scenario/algorithms/algorithm_entry.hpp"

namespace paceline {

AlgorithmChoice read_streaming_diloco(const ObjectReader& read, const AlgorithmInput& in);
AlgorithmChoice read_sparta(const ObjectReader& read, const AlgorithmInput& in);

}  // namespace paceline
