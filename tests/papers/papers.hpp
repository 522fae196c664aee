// A serial reference for each algorithm, written from its paper alone, and the row that it has in
// docs/algorithms.md.
//
// A reference shares no code with algorithms/: no optimizer, compressor, matrix of weights or
// schedule. It runs on the same Setting as the product and says what each node's model must be
// after each of its steps, as a loop without messages.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tests/papers/lock_step.hpp"

namespace paceline::papers {

/// One run of the product and what the reference says of it.
struct Case {
    Case(std::string name_, const Json& algorithm_, Setting setting_,
         History (*reference_)(const Case& run));

    std::string name;
    std::shared_ptr<const Json> algorithm;  // as a scenario has it
    Setting setting;
    History (*reference)(const Case& run);
};

/// Returns a run with other options: `patch` replaces keys of the algorithm.
Case changed(Case run, const Json& patch);

struct Paper {
    std::string_view algorithm;   // its name in a scenario
    std::string_view variant;     // what is implemented
    std::string_view deviations;  // from the source; "none"
    std::vector<Case> (*cases)();
};

/// Returns all papers, in the order of the families.
std::vector<Paper> all_papers();
/// Returns those of a family (app/scenario/algorithms/families.hpp).
std::vector<Paper> papers_of(std::string_view family);

/// Returns the deviation of the product from the reference.
double difference(const Case& run);
/// Returns that of all cases.
double largest_difference(const Paper& paper);

// One list for each file <name>_papers.cpp, which CMake lists: dense_papers(), lars_papers(), ...
#define LIST(papers) std::span<const Paper> papers();
#include "tests/papers/lists.inc"
#undef LIST

}  // namespace paceline::papers
