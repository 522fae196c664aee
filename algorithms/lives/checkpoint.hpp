// Checkpoints: the models and the replicated state at the beginning of a step, for restarts.
//
// Each worker writes its model when it begins the step. The replicated state (stored once for all
// workers) is copied when the first of them begins, before any update of the step. The checkpoint
// is complete when all workers have written. State that an algorithm keeps in its own process
// (residuals, momenta of workers that have their own model) is not saved and starts at zero after a
// restart.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "algorithms/lives/worker_state.hpp"
#include "algorithms/rounds/replicated_state.hpp"
#include "models/tensors/vector.hpp"
#include "sim/engine/units.hpp"

namespace paceline {

struct Checkpoint {
    std::int64_t step = 0;
    ReplicatedState replicated{};           // before the step
    std::vector<Vector> models{};           // by rank
    std::vector<std::int64_t> gradients{};  // computed before the step, by rank
};

/// The last checkpoint that all have written, and the one that is being written.
class CheckpointWriter {
  public:
    /// Until the first one is written, the last checkpoint is the beginning of the run.
    CheckpointWriter(int workers, const Vector& start);

    [[nodiscard]] const Checkpoint& last() const { return last_; }
    /// Returns whether none is being written, and the newest was begun `every` ago or earlier.
    [[nodiscard]] bool is_due(Time now, Duration every) const {
        return !writing_ && now - begun_ >= every;
    }
    /// Begins the checkpoint of a step, of which each of the `writers` writes its part.
    void begin(Time now, std::int64_t step, const ReplicatedState& replicated,
               const std::vector<int>& writers);
    /// Saves the state of a worker that begins a step; returns false if no checkpoint of this step
    /// is being written.
    bool save(const WorkerState& worker);
    /// Notes that a worker has written its part, or never will.
    void note_written(int rank);
    /// Drops the one that is being written. The next one is due `every` from now.
    void drop_unfinished(Time now);

  private:
    Checkpoint last_{};
    std::optional<Checkpoint> writing_{};
    std::set<int> missing_{};  // ranks that have not written their part of it yet
    Time begun_{};
};

}  // namespace paceline
