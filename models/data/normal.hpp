// Fills a matrix with independent normal numbers, for the data generators.
#pragma once

#include <Eigen/Core>

#include "sim/engine/random.hpp"

namespace paceline {

/// Fills `values` with independent N(0, 1), column by column.
void fill_normal(Eigen::Ref<Eigen::MatrixXf> values, RandomStream& stream);

}  // namespace paceline
