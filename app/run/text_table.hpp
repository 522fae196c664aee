// Tables as text: columns as wide as their widest cell, in characters of UTF-8.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace paceline {

using TableRow = std::vector<std::string>;

/// Returns a line for each row, with two spaces between columns. The first `names` columns are
/// aligned on the left, the others on the right. Control characters of cells are spelled out.
/// Requires rows of equal length.
std::string rows_to_text(std::vector<TableRow> rows, std::size_t names);

}  // namespace paceline
