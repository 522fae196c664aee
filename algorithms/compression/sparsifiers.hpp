// Compressors that send k = max(1, floor(rho d)) of the d entries of a tensor, as they are.
//
//   top-k         the largest by magnitude, each with its position: 64 k bits (32 of value, 32 of
//                 position). Positions differ between workers: gathered. Where that is more than
//                 the dense tensor it is sent dense, 32 d bits, and loses nothing.
//   random-k      k positions drawn without repetition, the same on all workers: 32 k bits, and the
//                 sum of messages is one: summable
//   random block  the same with k entries in a row from a drawn one on, around the end to the
//                 beginning, so that each entry is as likely as every other
//
// Biased, to be used with error feedback: |x - C(x)|^2 <= (1 - k/d) |x|^2, on average over the draws
// for random ones. Scaled by d/k the random ones are unbiased; with error feedback that diverges,
// for it is no contraction any more.
//
// Passes: top-k makes five to encode (a radix selection looks at 4 digits of 8 bits, then the kept
// ones are written), random-k one, a block none, which is a part of the vector as it lies in memory.
// Forms: released code (epfml/powersgd, sands-lab/grace; the latter draws with repetition). The
// wrapping around of blocks is this project's.
#pragma once

#include "algorithms/compression/compressor.hpp"

namespace paceline {

/// max(1, floor(density entries)). Requires 0 < density <= 1.
std::int64_t sparsified_entries(std::int64_t entries, double density);

Compressor make_top_k(double density);
/// `unbiased`: scaled by d/k.
Compressor make_random_k(double density, bool unbiased);
Compressor make_random_block(double density, bool unbiased);

}  // namespace paceline
