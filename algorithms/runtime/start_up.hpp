// How a collective runs on a device: behind the start-up of the job's library, and then with the
// share of the device that the library's kernels hold (sim/collectives/library.hpp).
#pragma once

#include "algorithms/lives/worker_state.hpp"
#include "algorithms/runtime/collectives.hpp"
#include "sim/engine/task.hpp"

namespace paceline {

struct SharedState;

/// Returns the messages of one of `members`, behind the start-up. `own` must outlive them.
Task<> behind_start_up(const SharedState& all, WorkerState& own, int members, Task<> messages);
/// Returns the same for the messages of any group of the worker.
CollectiveOfOwn behind_start_up(const SharedState& all, WorkerState& own, CollectiveOfOwn messages);

}  // namespace paceline
