// One bit per entry with two levels per column, as a compressor: column_quantizer.hpp has the rule.
// Biased; made for error feedback. A tensor of c columns of r rows takes 32 c (ceil(r / 32) + 2)
// bits. A part of a tensor (a chunk) is one column. Passes: two to encode (the levels, the bits),
// one to decode.
#pragma once

#include "algorithms/compression/compressor.hpp"

namespace paceline {

Compressor make_columns();

}  // namespace paceline
