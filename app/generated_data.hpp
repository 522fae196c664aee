// Data that is generated, by name: what a scenario's "data" can be without files.
#pragma once

#include <span>

#include "app/data.hpp"

namespace paceline {

std::span<const DataEntry> generated_data();

}  // namespace paceline
