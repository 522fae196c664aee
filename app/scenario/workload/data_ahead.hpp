// Makes the data sets of several points at the same time, before the points are read one by one.
#pragma once

#include <span>
#include <string>

#include "app/json/json_file.hpp"
#include "app/json/sources.hpp"

namespace paceline {

/// Puts the data sets of these resolved points on the shelf of `sources`, each once. Points and data
/// with errors are left out: reading the point reports them.
void make_data_ahead(std::span<const Json> points, const std::string& file, const Sources& sources);

}  // namespace paceline
