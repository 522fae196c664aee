// Eight bits per entry: min-max quantization, bucket by bucket.
//
//   a, b    =   least and greatest entry of a bucket of k entries
//   s       =   255 / (b - a)
//   l_i     =   round(s x_i), halves to even, within [round(s b) - 255, round(s b)]
//   send a, b and l_i;   decoded:  l_i / s
//
// The levels are 256 neighboring multiples of 1/s, so zero is decoded as zero wherever it lies
// between a and b, and |decoded - x_i| <= (b - a) / 510. A bucket whose entries are all equal is
// sent exactly. Biased (rounding to nearest), and scale-free: C(c x) = c C(x) for c > 0.
//
//   bits of a tensor of d entries:   8 d + 64 ceil(d / k)
//
// A tensor is one bucket if k is 0; in a two-phase exchange a tensor's part of a chunk is. Passes:
// two to encode (the extremes, the rounding), one to decode.
//
// Source: the kernel behind Bagua's ByteGrad, QAdam (its 1-bit Adam in 8 bits) and low-precision
// decentralized SGD (bagua_kernels.cu, "MinMaxUInt8"; Gan et al., "Bagua", VLDB 2021). Three things
// differ. There s = 255 / (b - a + 1e-7), which flattens buckets whose range is not far above 1e-7.
// A chunk there has a header of 32 bytes, of which a and b take 8, and is padded to a multiple of
// 32. And there a bucket is a chunk of a fused buffer, whatever tensors it holds.
#pragma once

#include <cstdint>

#include "algorithms/compression/compressor.hpp"

namespace paceline {

struct EightBitOptions {
    std::int64_t bucket = 0;  // k; 0: the whole tensor
};

Compressor make_eight_bit(EightBitOptions options = {});

}  // namespace paceline
