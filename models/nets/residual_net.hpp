// A residual net in the form used for CIFAR-10: a 3 x 3 convolution, three stages of `blocks`
// residual blocks with widths w, 2w and 4w, of which the later two begin with stride 2, the mean of
// each channel, and a fully connected layer to the classes. That makes 6 x blocks + 2 layers with
// weights. With 3 blocks and w = 16 it is the paper's ResNet-20 (0.27 million parameters).
//
// Source: He, Zhang, Ren, Sun, Deep Residual Learning, CVPR 2016, section 4.2, with shortcuts A and
// group normalization instead of batch normalization (group_norm.hpp says why).
//
// Tensors conv1.weight, norm1.scale, norm1.shift, stage1.block1.conv1.weight, ..., fc.weight,
// fc.bias.
#pragma once

#include <memory>

#include "models/data/dataset.hpp"
#include "models/nets/net.hpp"

namespace paceline {

struct ResidualNetShape {
    ImageShape image;
    Eigen::Index width = 16;
    int blocks = 1;           // in each stage
    Eigen::Index groups = 4;  // in each normalization
    Eigen::Index classes = 10;
};

/// Requires groups that divide the width.
template <class Scalar>
std::unique_ptr<Net<Scalar>> make_residual_net(const ResidualNetShape& shape);

}  // namespace paceline
