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
// Each worker has its own M, so messages are gathered. With a shared scaler, all workers use the
// largest of their M, tensor by tensor. Messages are then integers of -1, 0, 1 times the same M:
// they add up exactly on their way, and
//
//   bits of the sum of n messages:   d ceil(log2(2 n + 1)) + 32
//
// Rounding stays unbiased, with a larger variance, |x_i| (M - |x_i|), for workers whose own M is
// smaller. A sum is charged at its final width from the first hop on.
//
// Passes: three to encode (moments, maximum, rounding), one to decode.
//
// Sources: Wen et al., "TernGrad", NeurIPS 2017 (rule, clipping, scalers by layer, "scaler sharing"
// and the width of the sum); sands-lab/grace for M = max |x_i| of what was clipped. The authors'
// released code (wenwei202/terngrad, inception_train.py) shares scalers, too, but takes M = 2.5
// sigma, and clips at the shared M instead of each worker's own. It sends the last layer's weights
// and biases in 32 bits ("leave_out": [-2, -1]), and by a script of theirs all tensors below 9,217
// entries.
#pragma once

#include "algorithms/compression/compressor.hpp"

namespace paceline {

Compressor make_terngrad();
/// With one scaler per tensor for all workers (Compressor::scaler).
Compressor make_shared_terngrad();

}  // namespace paceline
