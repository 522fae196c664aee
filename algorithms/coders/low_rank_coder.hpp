// PowerSGD's factors as messages: two exchanges of sums, with the codec's own error feedback.
//
//   M_i  <-  v_i + e_i
//   P    <-  (1/n) sum over i of M_i Q        then orthonormal columns
//   Q    <-  (1/n) sum over i of M_i^T P
//   M    <-  P Q^T,   e_i  <-  M_i - M
//
// Tensors that are not compressible travel whole, with P, and leave no error. Sums travel by an
// all-reduce, or through servers that nothing is encoded for. Coding makes two passes before the
// first exchange (the sum, M Q), one between the two, and two behind the second (P Q^T, the error);
// orthonormalizing is free. P, Q and M are equal on all members and exist once. Source:
// algorithms/compressed/power_sgd.hpp.
#pragma once

#include "algorithms/coders/coder.hpp"

namespace paceline {

/// Bytes of the two sums: 4 (sum of r a, and tensors that travel whole) and 4 (sum of r c).
struct LowRankBytes {
    Bytes left;
    Bytes right;
};
LowRankBytes low_rank_bytes(const LowRankCodec& codec, const Layout& charged);

CoderPtr make_low_rank_coder(Worker& self, const Codec& codec, const AggregationPlan& aggregation,
                             CoderPlace place);

}  // namespace paceline
