// Formats what `paceline solve` answers for each point of a study, for people and for programs.
#pragma once

#include <string>
#include <vector>

#include "app/questions/rows/solve_rows.hpp"

namespace paceline {

/// Returns the question in words and a line for each answer of each row.
std::string solved_rows_text(const SolveQuestion& asked, const SolveRows& rows,
                             const std::vector<SolvedRow>& solved);

/// Returns one JSON object: "rows", each with "row" (its values on the axes), and either what
/// solution_json has or "refused", which says why.
std::string solved_rows_json(const SolveRows& rows, const std::vector<SolvedRow>& solved);

/// Returns answers.csv, a line for each answer. After the axes come
///   vary, column, target   the question; target is empty where it is another scenario's column
///   answer                 crossing, jump, equal, hidden, nowhere, unknown or refused
///   at                     the varied quantity there, as scenarios have it
///   number                 the same in bit/s, seconds or bytes
///   value                  the column there, or beside it
///   what                   in words
std::string answers_csv(const SolveRows& rows, const std::vector<SolvedRow>& solved);

}  // namespace paceline
