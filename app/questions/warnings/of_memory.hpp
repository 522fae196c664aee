// The warning about the memory of devices.
#pragma once

#include <string>

#include "app/scenario/scenario.hpp"

namespace paceline {

/// Returns the text if what a device keeps exceeds its memory; nothing if it fits or is not known.
std::string beyond_memory(const Scenario& scenario);

}  // namespace paceline
