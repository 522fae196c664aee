// How a job handles workers that die and return: who takes part, letters that are lost, and
// checkpoints.
#pragma once

#include <cstdint>

#include "algorithms/runtime/shared_state.hpp"

namespace paceline {

/// Records that a worker has left and its process has been destroyed.
void mark_away(SharedState& all, int rank);
/// Records that a worker is back. It takes part from the next step on, reported by `on_join`.
void mark_returned(SharedState& all, int rank);
/// Lets ready workers join at step k, in the rounds that `like`, the first worker to begin k,
/// begins next.
void admit_ready_workers(SharedState& all, std::int64_t k, const WorkerState& like);

/// Saves the state of a worker that begins a step if a checkpoint of that step is being written. A
/// checkpoint that is due starts when the first worker begins a new step.
void save_for_checkpoint(SharedState& all, WorkerState& worker);
/// Notes that a worker has written its part of the checkpoint.
void mark_written(SharedState& all, int rank);
/// Restores the last checkpoint. Requires that all workers' processes have been destroyed.
void roll_back(SharedState& all);

}  // namespace paceline
