// Entries that take more bits on the wire than they need, as libraries ship them.
//
// A published encoding packs a sign into one bit and a ternary digit into two; most released code
// sends a byte for either, because frameworks exchange arrays of whole bytes (GRACE sends signs,
// TernGrad's digits and QSGD's levels as 8-bit integers: sands-lab/grace,
// grace_dl/tensorflow/compressor).
//
//   bits(x)  =  bits of the packed form  +  entries x (bits shipped - bits needed)
//
// Values do not change. An exact sum of messages takes the larger of what it needs and what is
// shipped.
#pragma once

#include "algorithms/compression/compressor.hpp"

namespace paceline {

/// Returns a compressor that ships `bits` per entry. Requires that it sends all entries alike
/// (Compressor::entry_bits above 0), in at most `bits`.
Compressor with_entry_bits(Compressor compressor, int bits);

}  // namespace paceline
