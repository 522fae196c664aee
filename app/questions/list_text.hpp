// What `paceline list` and `paceline check` print.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "app/scenario/study.hpp"

namespace paceline {

/// Returns the names of the available lists.
std::span<const std::string_view> list_names();

/// Returns one list, or all of them for an empty name. Requires that the name is known.
std::string list_text(std::string_view name);

/// Returns the table of algorithms as JSON: a list of families, each with its algorithms.
std::string algorithms_json();

/// Returns what a study would run: its axes, its points and the closed forms of a step.
std::string check_text(const Study& study);

}  // namespace paceline
