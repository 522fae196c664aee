// Explains another job than the main one: a point in which the two have changed places.
//
// What a cluster says of nodes besides their place (stragglers, speeds, jitter, failures, access, a
// library) is said of the main job's. A point that says so cannot be turned around.
#pragma once

#include <string>

#include "app/scenario/study.hpp"

namespace paceline {

/// Returns the point with this job in the place of the main one, and the main one among the others.
/// Throws ConfigError if there is no such job, or the two cannot change places.
Point with_job_in_front(const Study& study, const Point& point, const std::string& job);

}  // namespace paceline
