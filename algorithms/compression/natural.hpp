// Natural compression: each entry is rounded at random to a power of two.
//
//   2^a <= |x_i| < 2^(a+1):   2^(a+1) with probability |x_i| / 2^a - 1, else 2^a
//
// Unbiased, E |C(x) - x|^2 <= |x|^2 / 8. Below 2^-126, the least power that an fp32 exponent names,
// 0 and 2^-126 are the neighbors; above 2^127 it stays 2^127 (biased, out there).
//
//   bits of a tensor of d entries:   9 d           a sign and 8 of exponent
//
// GRACE's code ships 8 d. Gathered: sums of powers of two are none. Passes: one to encode, one to
// decode. Source: Horvath et al., "Natural Compression for Distributed Deep Learning", 2019; form:
// released code (sands-lab/grace); the variance bound is from memory, unverified, and tested.
#pragma once

#include "algorithms/compression/compressor.hpp"

namespace paceline {

Compressor make_natural();

}  // namespace paceline
