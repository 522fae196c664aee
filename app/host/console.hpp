// Standard output and standard error. Everything that the program prints goes through here.
//
// Printing never throws and never ends the process. A failed write is remembered, and
// code_after_printing() turns it into an exit code at the end, with a line on the other stream. So
// a study continues when its log is full.
//
// The two streams belong to the process, and so does what is remembered about them.
#pragma once

#include <cstdio>
#include <string_view>

namespace paceline {

/// Makes the standard streams safe; call it first of all. A closed stream gets a descriptor that
/// cannot be written, so that no file of results takes its number. Writing to a closed pipe or
/// beyond the largest file (ulimit -f) becomes an error instead of a signal.
void prepare_streams();

/// Writes text to stdout or stderr, at once and whole. Control characters other than line ends are
/// spelled out (app/json/printable.hpp). Thread-safe.
void print(std::FILE* stream, std::string_view text);

/// Does the same but leaves control characters as they are, for colors and the progress line.
void print_raw(std::FILE* stream, std::string_view text);

/// Returns `code`, or 1 instead of 0 if something could not be written; prints why on the other
/// stream. A pipe that its reader has closed is no failure. Call it at the end.
int code_after_printing(int code);

}  // namespace paceline
