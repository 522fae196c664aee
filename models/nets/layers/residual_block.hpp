// A residual block: out = max(F(in) + S(in), 0), with
//
//   F = normalize(conv(max(normalize(conv(in)), 0)))    3 x 3, the first with stride s
//   S(in)(c, y, x) = in(c, s y, s x) for c < in.channels, 0 for the other channels   ("option A")
//
// Source: He, Zhang, Ren, Sun, Deep Residual Learning, CVPR 2016, section 3.2 and 3.3 (A), with
// group_norm.hpp instead of batch normalization. Tensors are <name>.conv1.weight,
// <name>.norm1.scale, <name>.norm1.shift, <name>.conv2.weight, ...
#pragma once

#include <memory>
#include <string>

#include "models/nets/layers/layer.hpp"

namespace paceline {

struct ResidualBlockShape {
    ImageExtent in;
    Eigen::Index out_channels;
    Eigen::Index stride = 1;
    Eigen::Index groups = 1;

    [[nodiscard]] ImageExtent out() const;
};

/// Requires out_channels >= in.channels and groups that divide them.
template <class Scalar>
std::unique_ptr<Layer<Scalar>> make_residual_block(const std::string& name,
                                                   const ResidualBlockShape& shape);

}  // namespace paceline
