// What speedup_to_target is measured against: plain sequential SGD, which is one worker of the same
// kind with all the data, the same optimizer and batch, and no network. It ends when it reaches the
// target, or when it has seen as many samples as the study's run would in all.
//
//   speedup to target  =  the baseline's time to the target / the run's
#pragma once

#include <vector>

#include "app/results.hpp"

namespace paceline {

/// Runs the baselines that the points of a study ask for ("measure.baseline"), one for all points
/// that differ in nothing but network and algorithm, and fills in speedup_to_target.
void add_speedups_to_target(const Study& study, std::vector<PointResult>& results);

}  // namespace paceline
