// What speedup_to_target is measured against: plain sequential SGD, which is one worker of the same
// kind with all the data, the same optimizer and batch, and no network. It ends when it reaches the
// target, or when it has seen as many samples as the study's run would in all.
//
//   speedup to target  =  the baseline's time to the target / the run's
#pragma once

#include <string>

#include "app/study.hpp"

namespace paceline {

/// Whether "measure.baseline" says so.
bool asks_for_baseline(const Scenario& scenario);

/// Points with equal keys differ in nothing but network and algorithm, and have the same baseline.
std::string baseline_key(const Point& point);

/// Requires that it asks for one.
Scenario baseline_of(const Scenario& scenario);

}  // namespace paceline
