// How `paceline solve` runs points: all of a study concurrently. Results are stored in a folder and
// taken from there, in the same way as those of `paceline run` (app/study/kept_points.hpp).
#pragma once

#include "app/questions/solve.hpp"
#include "app/study/run_study.hpp"

namespace paceline {

/// The search was stopped. Finished points are stored.
struct SearchStopped {};

/// Returns an evaluator that throws SearchStopped if a stop was requested, and OutputError if a
/// point cannot be stored.
Evaluate concurrently(StudyOptions options);

}  // namespace paceline
