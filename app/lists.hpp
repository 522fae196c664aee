// What `paceline list` and `paceline check` print.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "app/study.hpp"

namespace paceline {

/// Names of the lists there are.
std::span<const std::string_view> list_names();

/// One list, or all of them for an empty name. Requires that the name is known.
std::string list_text(std::string_view name);

/// What a study would run: its axes, points, closed forms of a step.
std::string check_text(const Study& study);

}  // namespace paceline
