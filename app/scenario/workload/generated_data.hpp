// The table of generated data by name: the values that a scenario's "data" can take without files.
#pragma once

#include <span>

#include "app/scenario/workload/data_entry.hpp"

namespace paceline {

std::span<const DataEntry> generated_data();

}  // namespace paceline
