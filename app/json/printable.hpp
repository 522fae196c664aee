// Texts that others wrote (titles, labels, file names), made fit for a terminal and for one line.
//
// A character that could command a terminal or reorder a line is spelled out: control characters as
// "\x1b" (a line end as "\n"), and likewise bytes that are no UTF-8; the controls of Unicode beyond
// ASCII (C1, line separators, directions of writing) as "\u202e".
#pragma once

#include <string>
#include <string_view>

namespace paceline {

/// Returns the text in one line without control characters.
std::string printable(std::string_view text);

/// Does the same but leaves line ends as they are.
std::string printable_lines(std::string_view text);

}  // namespace paceline
