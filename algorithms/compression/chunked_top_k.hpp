// Chunked top-k: the k largest entries of each chunk of a tensor, by magnitude, with values in a
// few bins and packed positions.
//
//   S    =   the k largest |x_i| of each chunk, or all of a smaller one; ties go to the first
//   m    =   the mean of the n values of the tensor at S;   d = sqrt(sum of (x_i - m)^2 / (n - 1))
//   b_i  =   round((x_i - m) / u + B/2), halves to even, within [0, B-1];   u = r d / B, 1 if d = 0
//   send     the positions and b_i, and for each tensor m and a table of B means
//   decoded  the mean of all values of the tensor that share the bin b_i;   0 outside S
//
//   symbol   here           meaning
//   s        chunk          a chunk has at most s x s entries (tensor_chunks.hpp)
//   k        kept
//   B        2^value_bits   bins; value_bits 32: values are sent as they are
//   r        value_range    width of all bins, in deviations
//
//   bits of a tensor of c chunks:   c min(k, entries) (index_bits + value_bits) + 32 (B + 1)
//
// without the last term if values are sent as they are. Biased, to be used with error feedback, and
// scale-free: C(c x) = c C(x) for c > 0. Positions within a chunk take ceil(log2 s^2) bits,
// whatever the chunk. Passes: five to encode, as top-k; one to decode.
//
// Source: released code, tplr-ai/CCLoco src/tplr/ccloco.py @c01a785 (k 32, 256 bins, positions of
// 64 bits) and one-covenant/templar src/tplr/compress.py @142666f (k 64, 4 bins, positions of 12
// bits, two in three bytes; k is made even, and at least 2). Both keep a bin in a byte while it is
// in memory; value_bits 8 is what they send. 2 bits a value and 12 a position are what the authors
// count: 64 of 4096 entries are 1/146 of 32 bits an entry (Covenant-72B: "over 146x"), for which m
// and the table do not count. Arithmetic is in fp32 there.
#pragma once

#include <cstdint>

#include "algorithms/compression/compressor.hpp"

namespace paceline {

struct ChunkedTopKOptions {
    std::int64_t chunk = 64;
    std::int64_t kept = 64;
    int value_bits = 2;       // 2 to 8, or 32
    int index_bits = 0;       // 0: as many as tell the entries of the largest chunk apart
    double value_range = 6;   // above 0
    bool of_senders = false;  // entries are averaged over the workers that send them
};

/// Returns the least number of bits of positions in a chunk of side s.
int least_index_bits(std::int64_t chunk);

Compressor make_chunked_top_k(const ChunkedTopKOptions& options = {});

}  // namespace paceline
