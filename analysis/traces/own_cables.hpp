// Machines with one cable: all their routes to others begin, and end, with one link that is not
// part of their bus.
#pragma once

#include <vector>

#include "analysis/traces/trace_content.hpp"

namespace paceline {

struct OwnCable {
    int process;
    LinkId up;
    LinkId down;
};

/// Returns the cables of chosen machines that have one, by process.
std::vector<OwnCable> own_cables_of(const TraceMachine& machine);

}  // namespace paceline
