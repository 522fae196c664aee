// A codec that the caller brings, in place of one of the table: it encodes tensor by tensor, and
// its messages do not add up.
//
// Besides options of its own, it has a "label", and what every compressor has: "error_feedback",
// "coding_step" and "leave_out". Where rules say what goes with what (exchange_rules.hpp), it
// counts as top-k, whose messages do not add up either.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "algorithms/compression/compressor.hpp"
#include "app/json/object_reader.hpp"

namespace paceline {

struct OwnCodec {
    std::vector<std::string> options;  // its keys, besides those that every one has
    /// Checks the options of a codec. Throws ConfigError.
    std::function<Compressor(const Place& codec)> make;
};

}  // namespace paceline
