// Sparsifiers: compressors that send k = max(1, floor(rho d)) of the d entries of a tensor
// unchanged.
//
//   top-k         the largest by magnitude, each with its position: 64 k bits (32 of value, 32 of
//                 position). Positions differ between workers: gathered. If that is not less than
//                 the dense tensor, the tensor is sent dense, 32 d bits, and nothing is lost.
//   random-k      k positions drawn without repetition, the same on all workers: 32 k bits. The sum
//                 of messages is a message: summable
//   random block  the same with k consecutive entries from a random start, wrapping around the end,
//                 so that all entries are equally likely
//
// Biased, to be used with error feedback: |x - C(x)|^2 <= (1 - k/d) |x|^2, on average over the
// draws for random ones. Scaled by d/k the random ones are unbiased; combined with error feedback
// that diverges, because it is no longer a contraction.
//
// Passes to encode: top-k makes five (a radix selection looks at 4 digits of 8 bits, then writes
// the kept entries), random-k one, a block none, because it is contiguous in memory. Forms:
// released code (epfml/powersgd, sands-lab/grace; the latter draws with repetition). Wrapping
// blocks around is this project's choice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "algorithms/compression/compressor.hpp"
#include "sim/engine/random.hpp"

namespace paceline {

/// Returns max(1, floor(density entries)). Requires 0 < density <= 1.
std::int64_t sparsified_entries(std::int64_t entries, double density);

/// Draws k of n positions and returns which; every set of k is equally likely. Requires k <= n.
std::vector<bool> drawn_positions(std::size_t n, std::size_t k, RandomStream& random);

Compressor make_top_k(double density);
/// With `unbiased`, entries are scaled by d/k.
Compressor make_random_k(double density, bool unbiased);
Compressor make_random_block(double density, bool unbiased);

}  // namespace paceline
