// Formats the result of `paceline solve`, for people and for programs.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/questions/solve.hpp"

namespace paceline {

/// Returns "crossing", "jump", "equal" or "hidden".
std::string_view name_of(ChangeKind kind);

/// An answer in short.
struct ShortAnswer {
    std::string kind;               // name_of(ChangeKind), "nowhere" or "unknown"
    std::string place;              // "at 18.79Gbps", "from 12 on", "between 2 and 4"
    std::string what;               // "rises above 0.9", or what holds everywhere
    std::optional<double> at{};     // of the varied quantity; whole numbers: the first one after it
    std::optional<double> value{};  // of the column, at `at` or beside it
};

/// Returns each answer, or the one that there is none.
std::vector<ShortAnswer> short_answers(const SolveQuestion& question, const Solution& solution);

/// Returns where the answers are at the low and at the high end of the interval, in words: "at
/// 14Gbps", "nowhere"; nothing where runs have none.
struct AnswersAtEnds {
    std::string low;
    std::string high;
};
std::optional<AnswersAtEnds> answers_at_ends(const SolveQuestion& question,
                                             const Solution& solution);

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
