// How much memory this machine has to give.
#pragma once

#include "sim/engine/units.hpp"

namespace paceline {

/// What the kernel says can be had without swapping; 0 if it does not say.
Bytes available_memory();

}  // namespace paceline
