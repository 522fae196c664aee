// A small convolutional net: stages of a 3 x 3 convolution with ReLU and 2 x 2 max pooling, then a
// fully connected layer from the remaining features to the classes.
//
// Tensors conv1.weight {channels[0], image.channels, 3, 3}, conv1.bias {channels[0]}, conv2.weight,
// ..., fc.weight {classes, features}, fc.bias {classes}. He initialization.
#pragma once

#include <memory>
#include <vector>

#include "models/data/dataset.hpp"
#include "models/nets/net.hpp"

namespace paceline {

struct ConvNetShape {
    ImageShape image;
    std::vector<Eigen::Index> channels{16, 32};  // one per stage
    Eigen::Index classes = 10;
};

/// Requires an image that each pooling can halve.
template <class Scalar>
std::unique_ptr<Net<Scalar>> make_conv_net(const ConvNetShape& shape);

}  // namespace paceline
