// What a rank tells rank 0 about itself before any run: its host, how many runs it does at a time,
// and names for its program and its study. Ranks that would run something else are refused.
#pragma once

#include <cstddef>
#include <string>

#include "app/study/study_runs.hpp"

namespace paceline {

struct Greeting {
    std::string host;
    std::size_t loops = 1;
    std::string error;    // why it cannot begin; empty: it can
    std::string program;  // the build
    std::string study;    // everything that determines the results of its runs
};

/// Fills in the names of program and study.
void sign(Greeting& greeting, const StudyRuns& runs);

std::string greeting_text(const Greeting& greeting);
/// Requires a text that greeting_text returned.
Greeting read_greeting(const std::string& text);

}  // namespace paceline
