// Sign compressors: one bit per entry.
//
//   sign         decoded 1 where x_i >= 0, else -1                                 d bits
//   scaled sign  decoded (|x|_1 / d) sign(x_i), sign(0) = 0                        d + 32 bits
//
// The right column gives the bits of a tensor of d entries. Both are biased. The scaled sign
// contracts: |x - C(x)|^2 = (1 - |x|_1^2 / (d |x|_2^2)) |x|^2 if no entry is 0. Its sign(0) is that
// of the dense simulation in released code; a packed bit would decode as +1.
//
// Passes: to encode one for sign, two for scaled sign (the norm, the signs); one to decode.
// Sources: Bernstein et al., ICML 2018; Karimireddy, Rebjock, Stich, Jaggi, ICML 2019 (scaled);
// forms: released code (sands-lab/grace, epfml/error-feedback-SGD).
#pragma once

#include "algorithms/compression/compressor.hpp"

namespace paceline {

Compressor make_sign();
Compressor make_scaled_sign();

}  // namespace paceline
