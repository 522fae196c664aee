// The parts of a mixing: workers that never exchange anything, not even through others.
//
// Models of different parts never meet, so rho is exactly 1, whatever the weights are.
#pragma once

#include <cstddef>
#include <vector>

#include "topologies/mixing/mixing_schedule.hpp"

namespace paceline {

struct MixingParts {
    std::size_t count = 0;
    std::vector<std::size_t> of;  // the part of each node, numbered by the first node of each
};

/// Joins whoever sends or receives in any step of a period. Requires a schedule that is not drawn.
MixingParts parts_of(const MixingSchedule& schedule);

/// Returns the mixing inside of each part, with the nodes of the part numbered in their order.
std::vector<Mixing> split(const Mixing& mixing, const MixingParts& parts);

}  // namespace paceline
