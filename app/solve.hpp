// `paceline solve`: for which values of one free quantity is a column of the scenario's result equal
// to a number, or to the same column of the scenario with other settings?
//
//   left(x)    the column, with the free quantity at x
//   right(x)   a number; or `times` the column of the other. The other's free quantity moves along,
//              unless a setting of its own stands at the free path or above it: then that stands
//
// analysis/crossings.hpp says how the range is searched, what is found, and what is missed. The
// same search on the closed forms of the step alone, where there are any, needs no simulation.
//
// A value that the scenario refuses, and a run that fails, diverges or leaves the column empty, is a
// gap. Of bandwidths, durations, sizes and numbers the ends of the range must be values that the
// scenario takes; of whole numbers, such as nodes, one of the two.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/crossings.hpp"
#include "app/solve_points.hpp"

namespace paceline {

inline constexpr std::size_t usual_grid = 25;
inline constexpr std::size_t most_whole_numbers = 200;  // that are all looked at

struct SolveQuestion {
    std::string file;
    std::vector<std::string> settings;  // "path=value", of the scenario
    std::string vary;                   // "path=from..to"
    std::string column;
    std::optional<double> equals{};      // this,
    std::vector<std::string> against{};  // or settings of the other
    double times = 1;                    // the column of the other
    std::optional<std::size_t> grid{};
    std::optional<Scale> scale{};  // logarithmic where a positive range spans more than a factor 10
    double tolerance = 1e-4;
};

struct Solution {
    FreeQuantity free;
    Search search;
    bool other_varies = false;
    std::vector<double> grid;
    Changes found;
    std::map<double, std::string> why_gap;
    std::optional<Changes> closed_form;
    std::size_t points = 0;  // that were looked at
    std::size_t kept = 0;    // of them, from before
};

/// Throws ConfigError before anything runs, SearchStopped, and OutputError when a point cannot be
/// kept.
Solution solve(const SolveQuestion& question, const SolveOptions& options);

}  // namespace paceline
