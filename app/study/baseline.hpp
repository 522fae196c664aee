// The baseline of speedup_to_target is plain sequential SGD: one worker of the same kind with all
// the data, the same optimizer and batch, and no network. It ends when it reaches the target, or
// when it has processed as many samples as the study's run would in total. It is evaluated after as
// many of its own iterations as the run: at `workers` times as many, its time to the target would
// be rounded up to as many intervals, which takes longer than the run itself on many workers.
//
//   speedup to target  =  the baseline's time to the target / the run's
#pragma once

#include <string>

#include "app/scenario/study.hpp"

namespace paceline {

/// Returns whether "measure.baseline" asks for a baseline.
bool asks_for_baseline(const Scenario& scenario);

/// Returns a key that identifies the baseline. Points with equal keys differ only in network and
/// algorithm, so they share a baseline.
std::string baseline_key(const Point& point);

/// Returns the scenario of the baseline. Requires that the scenario asks for one.
Scenario baseline_of(const Scenario& scenario);

}  // namespace paceline
