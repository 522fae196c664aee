// Makes the coder of a codec: compressed_coder.hpp, low_rank_coder.hpp, sparse_coder.hpp,
// one_bit_coder.hpp.
#pragma once

#include "algorithms/coders/coder.hpp"

namespace paceline {

/// Makes the coder of a codec. Requires an aggregation that the codec can use, whose `machines` are
/// not looked at, and that the worker outlives the coder.
CoderPtr make_coder(Worker& self, const Codec& codec, const AggregationPlan& aggregation,
                    CoderPlace place);

}  // namespace paceline
