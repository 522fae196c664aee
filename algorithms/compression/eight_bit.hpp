// Eight bits per entry: min-max quantization, bucket by bucket.
//
//   a, b  =   least and greatest entry of a bucket of k entries
//   l_i   =   round(255 (x_i - a) / (b - a)),  halves to even
//   send a, b and l_i;   decoded:  a + (b - a) l_i / 255
//
// |decoded - x_i| <= (b - a) / 510. A bucket whose entries are all equal is sent exactly. Biased; but the
// same error whatever the gradient's scale.
//
//   bits of a tensor of d entries:   8 d + 64 ceil(d / k)
//
// A tensor is one bucket if k is 0; in a two-phase exchange a chunk of a tensor is. Passes: two to encode
// (the extremes, the rounding), one to decode. Sources: the form of ByteGrad and of Bagua's other methods
// of low precision (Gan et al., "Bagua", VLDB 2021; MinMaxUInt8 by chunk, whose kernel rounds the zero
// point as well; here it is exact), and of the 8-bit form of 1-bit Adam (Tang et al., 2021).
#pragma once

#include <cstdint>

#include "algorithms/compression/compressor.hpp"

namespace paceline {

struct EightBitOptions {
    std::int64_t bucket = 0;  // k; 0: the whole tensor
};

Compressor make_eight_bit(EightBitOptions options = {});

}  // namespace paceline
