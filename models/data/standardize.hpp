// Features of mean zero and variance one.
#pragma once

#include "models/data/dataset.hpp"

namespace paceline {

/// Moves and scales the features so that those of the training samples have mean 0 and variance 1;
/// the test samples follow by the same numbers. Each feature by itself, but an image's features by
/// channel: a pixel that is lit in one image out of thousands must not weigh a hundred times more
/// than the others. What never varies becomes 0 in training. Does nothing to text.
void standardize(Dataset& data);

}  // namespace paceline
