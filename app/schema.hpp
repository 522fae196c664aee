// scenario.schema.json as the reader of paths sees it: which dotted paths a scenario can have.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/json_file.hpp"

namespace paceline {

/// The schema, parsed from the built-in resource.
const Json& scenario_schema();

/// The parts of a dotted path. Requires a path that is not empty.
std::vector<std::string> split_path(std::string_view path);

/// Empty if some scenario can have this path; else what is wrong with it, with the nearest known
/// key.
std::string path_problem(const Json& schema, std::string_view path);

/// The names of all properties that objects at this path can have, through every kind; in order of
/// the schema.
std::vector<std::string> schema_keys(const Json& schema, std::string_view path);

}  // namespace paceline
