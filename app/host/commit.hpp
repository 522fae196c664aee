// The commit of the source that this program was built from.
#pragma once

#include <string_view>

namespace paceline {

/// Returns the commit's name, with "-dirty" if the source had changes; or says that it is unknown.
std::string_view commit();  // made by cmake/Commit.cmake

}  // namespace paceline
