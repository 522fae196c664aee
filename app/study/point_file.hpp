// Stores the result of a point as a small text whose completeness can be verified.
//
//   paceline-point 2 KEY HASH      KEY: what was run (app/study/point_key.hpp); HASH: of the rest
//   {"metrics": {...}, ...}        every field; numbers read back to the same double
//
// A text that is truncated, altered by a byte, or has another key or format is rejected, and the
// point is run again. Because of this check the file need not be flushed to survive a power
// failure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "app/run/results.hpp"

namespace paceline {

std::string point_text(std::string_view key, const PointResult& result);

/// Returns nothing unless the text is complete and has this key.
std::optional<PointResult> read_point(std::string_view text, std::string_view key);

}  // namespace paceline
