// Checkpoints: the models and the replicated state at the beginning of a step, for restarts.
//
// Each worker writes its model when it begins the step. The replicated state (stored once for all
// workers) is copied when the first of them begins, before any update of the step. The checkpoint
// is complete when all workers have written. State that an algorithm keeps in its own process
// (residuals, momenta of workers that have their own model) is not saved and starts at zero after a
// restart.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "models/tensors/vector.hpp"

namespace paceline {

struct Checkpoint {
    std::int64_t step = 0;
    std::int64_t updates = 0;  // updates done before the step
    std::map<std::string, Vector, std::less<>> replicated;
    std::vector<Vector> models;           // by rank
    std::vector<std::int64_t> gradients;  // computed before the step, by rank
};

/// A checkpoint that is being written.
struct CheckpointUnderWay {
    Checkpoint checkpoint;
    std::set<int> missing;  // ranks that have not written yet
};

}  // namespace paceline
