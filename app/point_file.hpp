// The result of a point as a small text that is whole or known not to be.
//
//   paceline-point 1 KEY HASH      KEY: what was run (app/point_key.hpp); HASH: of the rest
//   {"metrics": {...}, ...}        every field, numbers in a form that reads back to the same double
//
// What is cut short, changed by a byte, of another key or of another format is not read: the point
// is run again. So a file needs no flushing to survive a power cut, only this check.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "app/results.hpp"

namespace paceline {

std::string point_text(std::string_view key, const PointResult& result);

/// Nothing unless the text is whole and of that key.
std::optional<PointResult> read_point(std::string_view text, std::string_view key);

}  // namespace paceline
