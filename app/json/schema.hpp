// scenario.schema.json: which keys an object can have, and which dotted paths a scenario can have.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/json/object_reader.hpp"

namespace paceline {

/// Returns the schema, parsed from the built-in resource.
const Json& scenario_schema();

/// Returns the keys of the objects that a definition describes, in the order of the schema.
/// Requires that the schema has a definition of this name, with properties.
Keys definition_keys(std::string_view name);

/// Returns the parts of a path: "a.0.b" and "a[0].b" are "a", "0" and "b". Requires a path that is
/// not empty.
std::vector<std::string> split_path(std::string_view path);

/// Returns a fault without words if some scenario can have this path. Otherwise returns what is
/// wrong with it, with the nearest known key.
Fault path_fault(const Json& schema, std::string_view path);
/// The same of scenario_schema(), most of which it does not parse if there is no fault.
Fault path_fault(std::string_view path);
/// Returns the words of the fault.
std::string path_problem(const Json& schema, std::string_view path);

/// Returns the names of all properties that objects at this path can have, over all kinds, in the
/// order of the schema.
std::vector<std::string> schema_keys(const Json& schema, std::string_view path);

}  // namespace paceline
