// TernGrad: rounds each entry at random to -M, 0 or M.
//
//   x    <-  x, clipped to [-2.5 sigma, 2.5 sigma]      sigma: standard deviation of the tensor
//   M    =   max |x_i|
//   b_i  =   1 with probability |x_i| / M, else 0
//   send M and sign(x_i) b_i;   decoded:  M sign(x_i) b_i
//
// Unbiased for the clipped x. sigma is the population's (divisor d). If it is 0 (one entry, or
// equal ones), nothing is clipped.
//
//   bits of a tensor of d entries:   2 d + 32
//
// Each worker has its own M, so messages are gathered. If all use the largest of the workers' M (the
// paper's scaler sharing), messages are integers of -1 .. 1 times M: they add up exactly, and a sum of n
// takes ceil(log2(2 n + 1)) bits an entry. It costs more noise, because M is larger for most workers; the
// rounding stays unbiased. Passes: three to encode (moments, maximum,
// rounding), one to decode. Source: Wen et al., NeurIPS 2017; form: released code
// (sands-lab/grace).
#pragma once

#include "algorithms/compression/compressor.hpp"

namespace paceline {

Compressor make_terngrad();
/// With one scaler per tensor for all workers (Compressor::scaler).
Compressor make_shared_terngrad();

}  // namespace paceline
