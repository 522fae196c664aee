// The table of file formats that a scenario's "data" can read, by name. Files are named relative to
// the scenario and may be plain or gzip. Errors in a file are reported as ConfigErrors that name
// the byte.
#pragma once

#include <span>

#include "app/scenario/workload/data_entry.hpp"

namespace paceline {

std::span<const DataEntry> data_in_files();

}  // namespace paceline
