// Image layers without parameters: adding borders, dropping borders, and pooling.
#pragma once

#include <memory>

#include "models/nets/layers/layer.hpp"

namespace paceline {

/// Converts images without borders, as samples have them, to images with borders.
template <class Scalar>
std::unique_ptr<Layer<Scalar>> make_add_border(const ImageExtent& image);

/// Converts images with borders to images without borders.
template <class Scalar>
std::unique_ptr<Layer<Scalar>> make_drop_border(const ImageExtent& image);

/// Takes the largest of each 2 x 2 pixels; a last odd row or column is left out. On a tie the
/// gradient goes to the first of the largest. Requires at least two rows and two columns.
template <class Scalar>
std::unique_ptr<Layer<Scalar>> make_max_pool(const ImageExtent& image);
[[nodiscard]] ImageExtent after_max_pool(const ImageExtent& image);

/// Returns the mean of each channel, as features without a border.
template <class Scalar>
std::unique_ptr<Layer<Scalar>> make_average_pool(const ImageExtent& image);

}  // namespace paceline
