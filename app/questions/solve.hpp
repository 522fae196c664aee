// `paceline solve` answers: for which values of one free quantity does a column of the scenario's
// result equal a number, or the same column of the scenario with other settings?
//
//   left(x)    the column with the varied quantity at x
//   right(x)   a number, or `times` the column of the other scenario. The other's free quantity
//              varies too, unless one of its own settings fixes the free path or one above it
//
// analysis/measures/crossings.hpp says how the range is searched, and what is found and missed.
// Where closed forms of the step exist, the same search runs on them alone and needs no simulation.
//
// A value is a gap if the scenario refuses it, or if its run fails, diverges or leaves the column
// empty. For bandwidths, durations, sizes and numbers, the scenario must accept both ends of the
// range. For whole numbers, such as nodes, it must accept one of the two.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/measures/crossings.hpp"
#include "app/questions/searched_points.hpp"
#include "app/questions/varied_quantity.hpp"
#include "app/scenario/study.hpp"

namespace paceline {

inline constexpr std::size_t usual_grid = 25;
inline constexpr std::size_t most_whole_numbers = 200;  // up to here, all are tried

struct SolveQuestion {
    std::string file;                   // the scenario's name
    std::vector<std::string> settings;  // "path=value", for the scenario
    std::vector<std::string> picks{};   // "axis=label", for both scenarios
    std::string vary;                   // "path=from..to"
    std::string column;
    std::optional<double> equals{};      // either this,
    std::vector<std::string> against{};  // or settings of the other scenario
    double times = 1;                    // factor of the other's column
    std::optional<std::size_t> grid{};
    std::optional<Scale> scale{};  // logarithmic where a positive range spans more than a factor 10
    double tolerance = 1e-4;
};

/// A point of the scenario that was run, with the varied quantity at this value.
struct SolvedPoint {
    double value;
    Point point;
    Metrics metrics;
};

struct Solution {
    VariedQuantity varied;
    Search search;
    bool other_varies = false;
    std::vector<double> grid;
    Changes found;
    std::map<double, std::string> why_gap;
    std::optional<Changes> closed_form;
    /// What is found at the ends of the column's interval, where runs have one: of the column
    /// itself, or of its ratio to the other scenario's.
    std::optional<Changes> at_low{};
    std::optional<Changes> at_high{};
    std::vector<SolvedPoint> ran{};  // of the scenario itself, by increasing value
    std::size_t points = 0;          // that were evaluated
    std::size_t kept = 0;            // number of them from an earlier run
};

/// Where it is not sure which side is larger: the two ends of the interval differ in it.
struct UnsureRange {
    double first;  // of the values that were looked at
    double last;
};
std::optional<UnsureRange> unsure_range(const Solution& solution);

/// Returns the varied quantity of a question. Throws ConfigError if the question is wrong, whatever
/// the scenario.
VariedQuantity check_question(const SolveQuestion& question);

/// Returns what there is to warn of at both ends of the range, in both scenarios. Runs nothing.
/// Throws ConfigError.
std::vector<std::string> solve_warnings(const SolveQuestion& question,
                                        const ScenarioText& scenario);

/// Throws ConfigError before anything runs, and whatever the evaluator throws.
Solution solve(const SolveQuestion& question, const ScenarioText& scenario,
               const Evaluate& evaluate);

}  // namespace paceline
