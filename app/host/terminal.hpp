// Color for people: on a terminal that is not dumb, unless NO_COLOR is set (no-color.org).
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace paceline {

bool shows_color(std::FILE* stream);

/// Returns the text, in that color if `stream` shows colors.
std::string red(std::FILE* stream, std::string_view text);
std::string yellow(std::FILE* stream, std::string_view text);

}  // namespace paceline
