// CSV as RFC 4180 has it, with "\n" line ends; numbers in the shortest form that reads back to the
// same double.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace paceline {

/// The field as it stands in a row: quoted where it holds a comma, a quote or a line end.
std::string csv_field(std::string_view text);
std::string csv_field(double number);
/// Empty where there is no value.
std::string csv_field(const std::optional<double>& number);

/// Fields that are already fit for a row, joined and ended.
std::string csv_row(std::span<const std::string> fields);

}  // namespace paceline
