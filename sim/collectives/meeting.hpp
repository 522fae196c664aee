// Where the members of a collective wait for each other. It sends no messages and takes no time of
// its own.
#pragma once

#include <memory>

#include "sim/collectives/rank.hpp"
#include "sim/engine/barrier.hpp"
#include "sim/engine/task.hpp"

namespace paceline {

/// Returns the barrier of the members of a collective, which is gone when nobody has it any more.
std::shared_ptr<Barrier> meeting_of(const Rank& self);

/// Waits until all members have come.
Task<> meet(Rank self);

}  // namespace paceline
