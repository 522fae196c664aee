// Warnings about the data that a point trains on. Each function returns the text, or nothing if all
// is well.
#pragma once

#include <string>

#include "app/scenario/scenario.hpp"

namespace paceline {

/// A batch is larger than a worker's shard, so that it has samples of it several times, and they
/// are not drawn with replacement, which is what that is for.
std::string batch_beyond_shard(const Scenario& scenario);

/// All training samples are of one class, so that there is nothing to learn.
std::string one_class(const Scenario& scenario);

}  // namespace paceline
