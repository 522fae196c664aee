// Options of CHOCO-SGD for tests: flat and whole, unless they are changed.
#pragma once

#include <utility>

#include "algorithms/compressed/choco_sgd.hpp"
#include "algorithms/compression/compressor.hpp"

namespace paceline {

inline ChocoSgdOptions choco_options(Compressor compressor, double consensus_step,
                                     CodingCost coding = {}) {
    ChocoSgdOptions options;
    options.exchange.codec = {std::move(compressor), false, coding, {}};
    options.consensus_step = consensus_step;
    return options;
}

}  // namespace paceline
