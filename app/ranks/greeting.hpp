// What a rank tells rank 0 of itself before any run: where it is, how much it does at a time, and
// names for its program and its study, so that ranks that would run something else are refused.
#pragma once

#include <cstddef>
#include <string>

#include "app/study_runs.hpp"

namespace paceline {

struct Greeting {
    std::string host;
    std::size_t loops = 1;
    std::string error;    // why it cannot begin; empty: it can
    std::string program;  // the build
    std::string study;    // all that decides the results of its runs
};

/// The names in it.
void sign(Greeting& greeting, const StudyRuns& runs);

std::string greeting_text(const Greeting& greeting);
/// Requires a text of greeting_text.
Greeting read_greeting(const std::string& text);

}  // namespace paceline
