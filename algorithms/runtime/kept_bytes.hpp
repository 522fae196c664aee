// What training keeps on a device, without activations.
#pragma once

#include "sim/engine/units.hpp"

namespace paceline {

struct KeptBytes {
    Bytes parameters;
    Bytes gradients;
    Bytes optimizer;  // of the optimizer and the codec, with a copy of parameters in fp32
    Bytes buffers;    // units that are gathered or not reduced yet

    [[nodiscard]] Bytes all() const { return parameters + gradients + optimizer + buffers; }
};

}  // namespace paceline
