// JSON as users write it. The whole file is read, keys keep their order, and errors name the line.
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

/// Returns the content of a text file. Throws a ConfigError that names the file if it cannot be
/// read.
std::string read_text(const std::string& file);

/// Throws ConfigError with `file` and the line and column of the error.
Json parse_json(std::string_view text, const std::string& file);

}  // namespace paceline
