// What the program says on standard output and standard error. Everything goes through here.
//
// Saying never throws and never ends the process. What could not be written is remembered, and
// code_after_saying() turns it into an exit code at the end, with a word on the other stream. A
// study therefore goes on when its log is full.
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
void say(std::FILE* stream, std::string_view text);

/// Does the same but leaves control characters as they are, for colors and the progress line.
void say_as_it_is(std::FILE* stream, std::string_view text);

/// Returns `code`, or 1 instead of 0 if something could not be written; says so on the other
/// stream. It says nothing about a pipe that its reader has closed. Call it at the end.
int code_after_saying(int code);

}  // namespace paceline
