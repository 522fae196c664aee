// The memory that a run takes at its peak, estimated from its scenario.
//
// Constants were measured on whole runs; docs/performance.md compares estimates with peaks. Data
// sets are not included, because points share them.
#pragma once

#include "app/scenario/scenario.hpp"

namespace paceline {

/// Returns the peak of one run.
Bytes estimated_memory(const Scenario& scenario);

}  // namespace paceline
