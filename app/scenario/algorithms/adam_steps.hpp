// Readers of the methods of the local family whose workers take steps of AdamW, or of another inner
// optimizer (algorithms/local/inner_steps.hpp).
#pragma once

#include "app/scenario/algorithms/algorithm_entry.hpp"

namespace paceline {

AlgorithmChoice read_diloco(const ObjectReader& read, const AlgorithmInput& in);
AlgorithmChoice read_streaming_diloco(const ObjectReader& read, const AlgorithmInput& in);
AlgorithmChoice read_local_adam(const ObjectReader& read, const AlgorithmInput& in);
AlgorithmChoice read_sparta(const ObjectReader& read, const AlgorithmInput& in);

}  // namespace paceline
