// One bit per entry with two levels per column: the means of what is negative and of what is not.
//
//   a      =   g + e                     e the residual of the column, 0 at first
//   bit    =   a >= 0
//   level  =   mean of the a with that bit; 0 if there are none
//   e      <-  a - level
//
// A column is what one index of a tensor's first dimension names, the weights of one output; a
// tensor of one dimension is one column. A column of r rows weighs 4 ceil(r / 32) + 8 bytes: bits in
// words of 32, and two floats. So small columns compress badly.
//
// Levels are means, so a reconstruction is a projection: |a - level|^2 = |a|^2 - |level|^2, and the
// squared error never exceeds |a|^2 (tested). The layout of columns in memory is this project's; in
// the released code they are those of a column-major matrix.
//
// Source: Seide, Fu, Droppo, Li, Yu, "1-Bit Stochastic Gradient Descent and its Application to
// Data-Parallel Distributed Training of Speech DNNs", Interspeech 2014; levels and weights from
// released code (CNTK, ColumnQuantizer.h, its zero-threshold mode; the floats sent there are the
// ends of a range whose quarter points are the levels).
#pragma once

#include <cstdint>

#include <Eigen/Core>

#include "models/layout.hpp"
#include "sim/engine/units.hpp"

namespace paceline {

std::int64_t columns_of(const Tensor& tensor);
std::int64_t rows_of(const Tensor& tensor);

/// What a column of so many rows weighs on the wire.
Bytes column_bytes(std::int64_t rows);

/// What two levels per column say of v + residual; leaves in `residual` what they do not.
Eigen::VectorXd quantize_columns(const Layout& layout, const Eigen::VectorXd& v,
                                 Eigen::VectorXd& residual);

}  // namespace paceline
