// Standardizes features to mean zero and variance one.
#pragma once

#include "models/data/dataset.hpp"

namespace paceline {

/// Shifts and scales the features so that those of the training samples have mean 0 and variance 1.
/// The test samples are transformed with the same numbers. Each feature is standardized by itself,
/// but an image's features by channel: a pixel that is lit in one image out of thousands must not
/// weigh a hundred times more than the others. A feature that never varies becomes 0 in training.
/// Does nothing to text.
void standardize(Dataset& data);

}  // namespace paceline
