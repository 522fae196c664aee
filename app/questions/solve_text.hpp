// Formats the result of `paceline solve`, for people and for programs.
#pragma once

#include <string>
#include <string_view>

#include "app/questions/solve.hpp"

namespace paceline {

/// Returns "crossing", "jump", "equal" or "hidden".
std::string_view name_of(ChangeKind kind);

/// Returns the question in words, the answers, the values of the grid, and the cost.
std::string solution_text(const SolveQuestion& question, const Solution& solution);

/// Returns one JSON object:
///   "question"     scenario, settings, picks, vary {path, from, to, scale, unit}, column, equals
///                  or against, times, other_varies, tolerance
///   "answers"      kind (crossing, jump, equal, hidden), at, from, to, before, after (above,
///                  below, equal; null: unknown), values {from: [left, right], to: [left, right]}
///   "closed_form"  the same from closed forms; null if there are none
///   "closest"      value, left, right; null if no value is known
///   "gaps"         from, to, why
///   "samples"      value, left, right, on_grid
///   "points", "kept"
/// A value of the varied quantity is {"value": as in scenarios, "number": in base units}.
std::string solution_json(const SolveQuestion& question, const Solution& solution);

}  // namespace paceline
