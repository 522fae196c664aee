// How a collective begins: behind the start-up of the job's library (sim/collectives/library.hpp).
#pragma once

#include "algorithms/runtime/collectives.hpp"
#include "sim/engine/task.hpp"

namespace paceline {

struct SharedState;

/// Returns the messages of one of `members`, behind the start-up.
Task<> behind_start_up(const SharedState& all, int members, Task<> messages);
/// Returns the same for the messages of any member.
CollectiveOfOwn behind_start_up(const SharedState& all, CollectiveOfOwn messages);

}  // namespace paceline
