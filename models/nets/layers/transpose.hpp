// Converts between samples as columns of features, as in data sets, and features as rows of lanes.
#pragma once

#include <Eigen/Core>

namespace paceline {

/// Sets to[j * to_row + i] = from[i * from_row + j] for i < rows, j < columns.
template <class From, class To>
void transpose(Eigen::Index rows, Eigen::Index columns, const From* from, Eigen::Index from_row,
               To* to, Eigen::Index to_row);

}  // namespace paceline
