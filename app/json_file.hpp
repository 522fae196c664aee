// JSON as users write it: read whole, in the order of the file, with mistakes told by line.
//
// Refused beside what is not JSON: a key that occurs twice in one object (JSON leaves its meaning
// open), nesting deeper than max_depth, files larger than max_file_size.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace paceline {

using Json = nlohmann::ordered_json;

inline constexpr int max_depth = 32;
inline constexpr std::size_t max_file_size = std::size_t{16} << 20U;

/// The content of a text file. Throws ConfigError that names it when it cannot be read.
std::string read_text(const std::string& file);

/// Throws ConfigError with `file`, and the line and column of the fault.
Json parse_json(std::string_view text, const std::string& file);

}  // namespace paceline
