// No compression: entries as they are, in the wire format of the job. Messages add up, and nothing
// is encoded or decoded: 32 d bits of a tensor of d entries in 32 bits.
#pragma once

#include "algorithms/compression/compressor.hpp"

namespace paceline {

Compressor make_none();

}  // namespace paceline
