// Reads a decimal number at the beginning of a text, as std::from_chars does.
//
// libc++ has no std::from_chars for floating-point numbers before version 20, and WebAssembly has
// only libc++. There the number's extent is found by the grammar of std::from_chars and strtod
// reads it, which in musl rounds correctly and knows no locale. So the value is the same
// everywhere:
//
//   [-] (digits [. digits] | . digits) [(e | E) [+ | -] digits]   or   [-] (inf | infinity | nan)
#pragma once

#include <charconv>
#include <string_view>

namespace paceline {

/// Returns the end of the number and no error; std::errc::invalid_argument if the text does not
/// begin with one; std::errc::result_out_of_range if its value cannot be represented. `number`
/// changes only without an error.
std::from_chars_result read_decimal(std::string_view text, double& number);
std::from_chars_result read_decimal(std::string_view text, long double& number);

/// Returns the length of the number at the beginning of a text, by the grammar above; 0 if there
/// is none.
std::size_t extent_of_decimal(std::string_view text);

}  // namespace paceline
