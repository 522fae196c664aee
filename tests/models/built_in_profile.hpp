// A built-in profile straight from its JSON, past the reader of app/.
#pragma once

#include <string>

#include "models/profile.hpp"

namespace paceline {

Profile built_in_profile(const std::string& name);

}  // namespace paceline
