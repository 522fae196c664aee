// How much memory this machine has available.
#pragma once

#include "sim/engine/units.hpp"

namespace paceline {

/// Returns the memory that the kernel reports as available without swapping; 0 if it reports none.
Bytes available_memory();

}  // namespace paceline
