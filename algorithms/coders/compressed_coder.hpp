// Messages of a compressor: encoded on the worker, summed, gathered, or encoded once more on the
// way.
//
//   p_i   <-  v_i + e_i                 e_i: error feedback, 0 at first; without it p_i = v_i
//   c_i   <-  C(p_i),   e_i <- p_i - c_i
//
//   all-reduce   mean_i c_i             messages add up; a sum of n weighs what the compressor says
//   all-gather   mean_i c_i, or the vote; n messages are decoded
//   two-phase    on chunk j of n, by its owner:   q_j <- mean_i c_i[j] + E_j;  C(q_j);  E_j <- q_j
//                                                 - C(q_j)
//   servers      shard j of q: mean_i c_i[j], travels in 32 bits or encoded as in two-phase
//
// Owners' errors E exist if e does. Chunks and shards are ranges of entries, cut like those of
// collectives; a chunk weighs what the compressor says of the parts of tensors in it. An owner
// draws from a common stream, so that the aggregate is formed once.
//
// A scaler that is shared (TernGrad) costs one pass and an all-reduce of 4 bytes per tensor, its
// maximum, before the rounding; c_i then are multiples of it, and their sum is exact.
//
// Coding, in passes over entries: encode as the compressor says, two more with error feedback; an
// owner decodes n chunks and encodes one; servers that do not encode only decode.
#pragma once

#include "algorithms/coders/coder.hpp"

namespace paceline {

CoderPtr make_compressed_coder(Worker& self, const Codec& codec, const AggregationPlan& aggregation,
                               CoderPlace place);

}  // namespace paceline
