// What a rank reports to rank 0 about itself before any run: its host, how many runs it does at a
// time, and names for its program and its study. Ranks that would run something else are refused.
#pragma once

#include <cstddef>
#include <string>

#include "app/study/study_runs.hpp"

namespace paceline {

struct Hello {
    std::string host;
    std::size_t loops = 1;
    std::string error;    // why it cannot begin; empty: it can
    std::string program;  // the build
    std::string study;    // everything that determines the results of its runs
};

/// Fills in the names of program and study.
void sign(Hello& hello, const StudyRuns& runs);

std::string hello_text(const Hello& hello);
/// Requires a text that hello_text returned.
Hello read_hello(const std::string& text);

}  // namespace paceline
