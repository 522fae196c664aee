// Runs a study in memory.
#pragma once

#include <cstddef>
#include <vector>

#include "app/study/run_study.hpp"

namespace paceline {

/// Returns the results of the points in order, without their baselines.
inline std::vector<PointResult> run_points(const Study& study, int jobs) {
    StudyOptions options;
    options.pool = {static_cast<std::size_t>(jobs), static_cast<std::size_t>(jobs)};
    return run_study(study, options).results;
}

}  // namespace paceline
