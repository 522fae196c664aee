// Sign compressors: one bit per entry.
//
//   sign         decoded 1 where x_i >= 0, else -1                                 d bits
//   scaled sign  decoded (|x|_1 / d) sign(x_i), sign(0) = 0                        d + 32 bits
//
// The right column gives the bits of a tensor of d entries. Both are biased. The scaled sign
// contracts: |x - C(x)|^2 = (1 - |x|_1^2 / (d |x|_2^2)) |x|^2 if no entry is 0. Its sign(0) is that
// of the dense simulation in released code; a packed bit would decode as +1.
//
// Majority vote over n vectors of +-1: the sign of their sum, 0 for a tie (if n is even). Ties move
// nothing by this project's choice; sources vary.
//
// Gathered: every worker counts the votes. Passes: to encode one for sign, two for scaled sign (the
// norm, the signs); one to decode. Sources: Bernstein et al., ICML 2018 and ICLR 2019 (majority
// vote); Karimireddy, Rebjock, Stich, Jaggi, ICML 2019 (scaled); forms: released code
// (sands-lab/grace, epfml/error-feedback-SGD).
#pragma once

#include "algorithms/compression/compressor.hpp"
#include "algorithms/rounds.hpp"

namespace paceline {

Compressor make_sign();
Compressor make_scaled_sign();

[[nodiscard]] Vector majority_vote(const Round<Vector>& signs);

}  // namespace paceline
