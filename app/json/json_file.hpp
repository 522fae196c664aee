// JSON as users write it. Keys keep their order, and errors name the line.
//
// Besides invalid JSON, this refuses a key that occurs twice in one object (JSON leaves its meaning
// open), nesting deeper than max_depth, and files larger than max_file_size.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace paceline {

using Json = nlohmann::ordered_json;

inline constexpr int max_depth = 32;
inline constexpr std::size_t max_file_size = std::size_t{16} << 20U;

/// Throws ConfigError if a text file of this size is too large to be read.
void check_file_size(std::size_t size, const std::string& file);

/// Throws ConfigError with `file` and the line and column of the error.
Json parse_json(std::string_view text, const std::string& file);

}  // namespace paceline
