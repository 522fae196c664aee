// Profiles of published networks, built in or from a user's file.
#pragma once

#include <string>
#include <vector>

#include "app/json/json_file.hpp"
#include "app/json/object_reader.hpp"
#include "models/profile.hpp"

namespace paceline {

/// Returns the names of the built-in profiles, in alphabetical order.
std::vector<std::string_view> profile_names();

/// Returns the profile that `place` names: a built-in one, or a file that ends in ".json", relative
/// to the scenario's folder. Throws ConfigError with the path in the scenario, or in the profile's
/// own file.
Profile load_profile(const Place& place);

/// Reads a profile from its JSON. Throws ConfigError.
Profile read_profile(const Json& json, const std::string& file);

}  // namespace paceline
