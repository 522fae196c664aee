// Stores the result of a point as a small text whose completeness can be verified.
//
//   paceline-point 3 KEY HASH      KEY: what was run (app/study/point_key.hpp); HASH: of the rest
//   {"metrics": {...}, ...}        every field; numbers read back to the same double
//
// A text that is truncated, altered by a byte, or has another key or format is rejected, and the
// point is run again. Because of this check a file of such texts need not be flushed to survive a
// power failure. No other line of a text begins like the first, so that in a row of texts each is
// found, also behind one that is cut.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/run/results.hpp"

namespace paceline {

std::string point_text(std::string_view key, const PointResult& result);

/// Returns nothing unless the text is complete and has this key.
std::optional<PointResult> read_point(std::string_view text, std::string_view key);

/// Where a text lies in a row of them.
struct PointText {
    std::string_view key;  // in the row
    std::size_t offset;
    std::size_t size;
};

/// Returns the texts of a row, in which anything may stand between them. They may not be complete.
std::vector<PointText> points_in(std::string_view row);

}  // namespace paceline
