// A 3 x 3 convolution with padding 1, followed by out = max(z, 0) if it ends in a ReLU.
//
//   z(o, y, x) = b(o) + sum over c, v, u of W(o, c, v, u) in(c, s y + v - 1, s x + u - 1)
//
// s is the stride. Height and width become ceil(height / s) and ceil(width / s). Tensors are
// <name>.weight {out, in, 3, 3} and, unless a normalization follows, <name>.bias {out}.
//
// Each output pixel is a product W B, where the rows of B are the 9 `in` rows of lanes that the
// kernel sees. They are read in place through a table of offsets, without the copy that im2col
// makes. The gradient with respect to the input is the same product with the kernel turned. With
// stride s, the taps that reach an input pixel depend on (y mod s, x mod s), and each of these s *
// s classes has its own table.
#pragma once

#include <memory>
#include <string>

#include <Eigen/Core>

#include "models/nets/layers/layer.hpp"

namespace paceline {

struct ConvShape {
    ImageExtent in;
    Eigen::Index out_channels;
    Eigen::Index stride = 1;
    bool bias = true;
    bool relu = false;

    [[nodiscard]] ImageExtent out() const {
        return {out_channels, (in.height + stride - 1) / stride, (in.width + stride - 1) / stride};
    }
};

/// Initializes like a dense layer of 9 x in.channels inputs. Requires stride 1 or 2.
template <class Scalar>
std::unique_ptr<Layer<Scalar>> make_conv_layer(const std::string& name, const ConvShape& shape);

}  // namespace paceline
