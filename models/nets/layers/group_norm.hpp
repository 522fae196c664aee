// Group normalization: each sample's channels are normalized group by group.
//
//   out(c, p) = scale(c) n(c, p) + shift(c),   n = (in - mean) / sqrt(variance + 1e-5)
//
// with mean and variance over the channels of c's group and all pixels of the one sample, followed
// by max(out, 0) if the layer ends in a ReLU. Let d be the gradient with respect to out, and A and
// B the means over the group of scale d and scale d n. Then
//
//   d_in = (scale d - A - n B) / sqrt(variance + 1e-5)
//
// Source: Wu and He, Group Normalization, ECCV 2018, eq. 1, 2 and 7. Batch normalization is not
// offered for two reasons. It makes a sample's loss depend on its batch, so the gradient of a batch
// would not be the mean of its parts' gradients, and workers' batch sizes would change what is
// learned. It also keeps running statistics, which are not parameters, and no algorithm here says
// how to average them.
//
// Tensors are <name>.scale {channels}, initially 1, and <name>.shift {channels}, initially 0.
#pragma once

#include <memory>
#include <string>

#include "models/nets/layers/layer.hpp"

namespace paceline {

struct GroupNormShape {
    ImageExtent image;
    Eigen::Index groups;
    bool relu = false;
};

/// Requires groups that divide the channels.
template <class Scalar>
std::unique_ptr<Layer<Scalar>> make_group_norm(const std::string& name,
                                               const GroupNormShape& shape);

}  // namespace paceline
