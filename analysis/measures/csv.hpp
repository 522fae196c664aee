// CSV as in RFC 4180, but with "\n" line ends. Numbers have the shortest form that reads back to
// the same double.
//
// A text that begins with "=", "+", "-", "@" or a tab and is no number would be run by a
// spreadsheet as a formula, quoted or not. It is written in quotes and behind an apostrophe, which
// spreadsheets take as the mark of a text ("'=2+3"). A text of apostrophes and then such a
// character gets one more, so that a reader gets every text back by removing one.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace paceline {

/// Returns the field as written in a row: quoted if it contains a comma, a quote or a line end, or
/// looks like a formula.
std::string csv_field(std::string_view text);
std::string csv_field(double number);
/// Returns an empty field if there is no value.
std::string csv_field(const std::optional<double>& number);

/// Joins fields that are already escaped, and ends the row.
std::string csv_row(std::span<const std::string> fields);

/// Returns the rows of a text of such rows, each field as the text that it was made of. An empty
/// line is a row of one empty field. A quote that is not closed lasts until the end.
std::vector<std::vector<std::string>> csv_rows(std::string_view text);

}  // namespace paceline
