// The table of file formats that a scenario's "data" can read, by name. Paths are relative to the
// scenario. Errors in a file are reported as ConfigErrors that name the byte.
#pragma once

#include <span>

#include "app/scenario/workload/data.hpp"

namespace paceline {

std::span<const DataEntry> data_in_files();

}  // namespace paceline
