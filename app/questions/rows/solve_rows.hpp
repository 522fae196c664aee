// `paceline solve` over a study: the same question for each point that its sweep makes, such as for
// each of several methods.
//
// The varied quantity takes its axis away, if it has one, so that the axes that are left make the
// rows. Each row is a question of its own, about the scenario that its point is. A row may refuse
// the question, as where a method has no such key; if all do, the question is refused.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "app/questions/solve.hpp"
#include "app/run/ran_points.hpp"

namespace paceline {

/// More rows than these are refused: each is a search of some 40 points.
inline constexpr std::size_t most_solve_rows = 100;

struct SolveRow {
    std::vector<std::size_t> choice;  // a value per axis
    std::string name;                 // "algorithm dgc, nodes 4"
    ScenarioText scenario;
    std::string refusal{};  // why there is no such scenario; empty: there is
};

struct SolveRows {
    std::string title;       // of the study
    SolveQuestion question;  // about each row: what settings and picks say, rows have
    std::vector<Axis> axes;
    std::vector<SolveRow> rows;
};

/// Returns the rows that a question about a study has. Throws ConfigError.
SolveRows solve_rows(const SolveQuestion& question, const ScenarioText& scenario);

/// Returns each warning of the rows once. Throws ConfigError if all rows refuse the question.
std::vector<std::string> solve_rows_warnings(const SolveRows& rows);

/// What a row says: an answer, or why it refuses the question.
struct SolvedRow {
    std::optional<Solution> solution;
    std::string refusal{};
};

/// Returns the answers of the rows, in their order. Throws what `solve` throws, but for the
/// refusals of rows.
std::vector<SolvedRow> solve_all(const SolveRows& rows, const Evaluate& evaluate);

/// The points that a search has run, as a study whose last axis is the varied quantity.
struct SearchedStudy {
    Study study;
    std::vector<PointResult> results;
};
SearchedStudy searched_study(const SolveRows& rows, const std::vector<SolvedRow>& solved);

}  // namespace paceline
