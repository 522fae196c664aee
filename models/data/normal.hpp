// Independent normal numbers into a matrix, for the generators of data.
#pragma once

#include <Eigen/Core>

#include "sim/engine/random.hpp"

namespace paceline {

/// Fills with independent N(0, 1), column by column.
void fill_normal(Eigen::Ref<Eigen::MatrixXf> values, RandomStream& stream);

}  // namespace paceline
