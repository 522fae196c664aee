// A classifier: a chain of layers from a sample's features to its logits, and the cross-entropy of
// their softmax.
#pragma once

#include <functional>
#include <memory>

#include "models/nets/layers/layer.hpp"
#include "models/nets/net.hpp"

namespace paceline {

/// Returns the net of the layers that `build` makes. `build` is called again for each clone.
/// Requires that the first layer takes a sample's features and the last returns a logit per class.
template <class Scalar>
std::unique_ptr<Net<Scalar>> make_classifier(std::function<Layers<Scalar>()> build);

}  // namespace paceline
