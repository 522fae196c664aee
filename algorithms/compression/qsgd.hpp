// QSGD: rounds each entry at random to one of s levels of its bucket's norm.
//
//   N    =  |x|_2 over a bucket of k entries (the last one of a tensor may have fewer)
//   l_i  =  s |x_i| / N, rounded up with the probability of its fraction, else down
//   send N and the integers sign(x_i) l_i of {-s .. s};   decoded:  N sign(x_i) l_i / s
//
// Unbiased. E |C(x) - x|^2 <= min(k/s^2, sqrt(k)/s) |x|^2 in each bucket: 22.6 for s = 1 and k =
// 512, 0.032 for s = 127. A bucket of zeros is sent as zeros.
//
//   bits of a tensor of d entries:   d ceil(log2(2s + 1)) + 32 ceil(d/k)
//
// Norms differ between workers, so messages are gathered. Passes: two to encode (the norm, the
// rounding), one to decode. Source: Alistarh, Grubic, Li, Tomioka, Vojnovic, NeurIPS 2017; form and
// bound: released code (sands-lab/grace, epfml/ChocoSGD). Its variable-length code is not modeled.
#pragma once

#include "algorithms/compression/compressor.hpp"

namespace paceline {

struct QsgdOptions {
    std::int64_t levels = 127;  // s
    std::int64_t bucket = 512;  // k
};

Compressor make_qsgd(QsgdOptions options);

}  // namespace paceline
