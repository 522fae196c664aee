// Reads a built-in profile directly from its JSON, without the reader of app/.
#pragma once

#include <string>

#include "models/profile.hpp"

namespace paceline {

Profile built_in_profile(const std::string& name);

}  // namespace paceline
