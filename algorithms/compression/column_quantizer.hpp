// One bit per entry, with two levels per column: the means of its negative and other entries.
//
//   a      =   g + e                     e the residual of the column, 0 at first
//   bit    =   a >= 0
//   level  =   mean of the a with that bit; 0 if there are none
//   e      <-  a - level
//
// A column holds the entries under one index of a tensor's first dimension: the weights of one
// output. A one-dimensional tensor is one column. A column of r rows weighs 4 ceil(r / 32) + 8
// bytes: bits in words of 32, and two floats. So small columns compress badly.
//
// Levels are means, so a reconstruction is a projection: |a - level|^2 = |a|^2 - |level|^2, and the
// squared error never exceeds |a|^2 (tested). The memory layout of columns is this project's; in
// the released code they are the columns of a column-major matrix.
//
// Source: Seide, Fu, Droppo, Li, Yu, "1-Bit Stochastic Gradient Descent and its Application to
// Data-Parallel Distributed Training of Speech DNNs", Interspeech 2014; levels and weights follow
// released code (CNTK, ColumnQuantizer.h, its zero-threshold mode; the floats sent there are the
// ends of a range whose quarter points are the levels).
#pragma once

#include <cstdint>

#include <Eigen/Core>

#include "models/tensors/layout.hpp"
#include "sim/engine/units.hpp"

namespace paceline {

std::int64_t columns_of(const Tensor& tensor);
std::int64_t rows_of(const Tensor& tensor);

/// Returns the wire size of a column with this many rows.
Bytes column_bytes(std::int64_t rows);

/// Returns the two-level reconstruction of v + residual, and leaves the error in `residual`.
Eigen::VectorXd quantize_columns(const Layout& layout, const Eigen::VectorXd& v,
                                 Eigen::VectorXd& residual);

}  // namespace paceline
