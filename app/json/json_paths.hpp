// The value at a path of a JSON, such as "cluster.fabric.other_links.0.link". Elements of lists are
// named by their index.
#pragma once

#include <string>
#include <string_view>

#include "app/json/json_file.hpp"

namespace paceline {

/// Puts a value at a path and creates objects on the way. `shown` is the path as the user wrote it.
/// Throws ConfigError.
void put_at(Json& json, const std::string& path, const Json& value, std::string_view file,
            const std::string& shown);

/// Returns the value at a path, or null if there is none.
const Json* value_at(const Json& json, const std::string& path);

bool has_at(const Json& json, const std::string& path);

/// Returns the path of a value above this one that is no object, so that nothing can be put below
/// it; empty if there is none.
std::string barrier_to(const Json& json, const std::string& path);

}  // namespace paceline
