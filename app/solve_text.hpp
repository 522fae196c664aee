// What `paceline solve` has found, for people and for programs.
#pragma once

#include <string>

#include "app/solve.hpp"

namespace paceline {

/// The question in words, the answers, the values of the grid, and what it took.
std::string solution_text(const SolveQuestion& question, const Solution& solution);

/// One JSON object:
///   "question"     scenario, settings, vary {path, from, to, scale, unit}, column, equals or against,
///                  times, other_varies, tolerance
///   "answers"      kind (crossing, jump, equal, hidden), at, from, to, before, after (above, below,
///                  equal; null: not known), values {from: [left, right], to: [left, right]}
///   "closed_form"  the same by closed forms; null where there are none
///   "closest"      value, left, right; null where no value is known
///   "gaps"         from, to, why
///   "samples"      value, left, right, on_grid
///   "points", "kept"
/// A value of the free quantity is {"value": as scenarios have it, "number": in base units}.
std::string solution_json(const SolveQuestion& question, const Solution& solution);

}  // namespace paceline
