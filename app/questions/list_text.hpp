// What `paceline list` prints.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace paceline {

/// Returns the names of the available lists.
std::span<const std::string_view> list_names();

/// Returns one list, or all of them for an empty name. Requires that the name is known.
std::string list_text(std::string_view name);

}  // namespace paceline
