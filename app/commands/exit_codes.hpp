// Exit codes of paceline. A run that signal N has stopped ends with 128 + N.
#pragma once

namespace paceline {

inline constexpr int done = 0;
inline constexpr int point_failed = 1;    // or a request could not be fulfilled
inline constexpr int results_differ = 1;  // of compare
inline constexpr int wrong_input = 2;     // error in the scenario or the command line

}  // namespace paceline
