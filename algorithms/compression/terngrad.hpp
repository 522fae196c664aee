// TernGrad: each entry becomes -M, 0 or M.
//
//   x    <-  x, cut off at -2.5 sigma and 2.5 sigma     sigma: standard deviation of the tensor
//   M    =   max |x_i|
//   b_i  =   1 with probability |x_i| / M, else 0
//   send M and sign(x_i) b_i;   decoded:  M sign(x_i) b_i
//
// Unbiased for x as it is after cutting off. sigma is that of the population (divisor d); where it
// is 0, one entry or equal ones, nothing is cut off.
//
//   bits of a tensor of d entries:   2 d + 32
//
// Each worker has its own M: gathered. Passes: three to encode (moments, maximum, rounding), one to
// decode. Source: Wen et al., NeurIPS 2017; form: released code (sands-lab/grace).
#pragma once

#include "algorithms/compression/compressor.hpp"

namespace paceline {

Compressor make_terngrad();

}  // namespace paceline
