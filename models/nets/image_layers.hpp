// Layers of images without parameters: putting borders on, taking them off, and pooling.
#pragma once

#include <memory>

#include "models/nets/layer.hpp"

namespace paceline {

/// From the pixels alone, as samples have them, to images with borders.
template <class Scalar>
std::unique_ptr<Layer<Scalar>> make_add_border(const ImageExtent& image);

/// From images with borders to the pixels alone.
template <class Scalar>
std::unique_ptr<Layer<Scalar>> make_drop_border(const ImageExtent& image);

/// The largest of each 2 x 2 pixels; a last odd row or column is left out. The gradient goes to the
/// first of the largest. Requires two rows and two columns.
template <class Scalar>
std::unique_ptr<Layer<Scalar>> make_max_pool(const ImageExtent& image);
[[nodiscard]] ImageExtent after_max_pool(const ImageExtent& image);

/// The mean of each channel, as features without a border.
template <class Scalar>
std::unique_ptr<Layer<Scalar>> make_average_pool(const ImageExtent& image);

}  // namespace paceline
