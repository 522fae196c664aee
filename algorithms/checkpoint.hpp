// What workers go back to: models, and what exists once, as they were at the beginning of a step.
//
// Each worker writes its model when it begins the step; what exists once is taken when the first of
// them does, before any update of the step. It is a checkpoint when all have written theirs. State
// that an algorithm keeps in its process (momenta of workers with models of their own, residuals)
// is not in it, and begins at zero again.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "models/vector.hpp"

namespace paceline {

struct Checkpoint {
    std::int64_t step = 0;
    std::int64_t updates = 0;  // done before it
    std::map<std::string, Vector, std::less<>> replicated;
    std::vector<Vector> models;           // by rank
    std::vector<std::int64_t> gradients;  // computed until then, by rank
};

/// One that is being written.
struct CheckpointUnderWay {
    Checkpoint checkpoint;
    std::set<int> missing;  // who has not written yet
};

}  // namespace paceline
