// The "transformer" of a profile: a decoder by its sizes, in a scenario or in a profile's file
// (models/decoder.hpp).
#pragma once

#include "app/json/object_reader.hpp"
#include "models/decoder.hpp"

namespace paceline {

// A test checks scenario.schema.json against it.
Keys decoder_keys();

/// Reads the sizes. Throws ConfigError.
DecoderSizes read_decoder(const Place& place);

}  // namespace paceline
