// Data in files, by name: the formats that a scenario's "data" can read. Paths are relative to the
// scenario. Faults of a file are ConfigErrors that name the byte.
#pragma once

#include <span>

#include "app/data.hpp"

namespace paceline {

std::span<const DataEntry> data_in_files();

}  // namespace paceline
