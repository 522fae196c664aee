// Sums of many numbers in a fixed order, so that the bits never depend on the machine.
//
// Eigen's and the standard library's sums use as many accumulators as the instruction set has
// lanes, so the norm of a vector can differ between processors. Here there are always 32
// accumulators:
//
//   lane l   =  t_l + t_(l+32) + t_(l+64) + ..          l = 0 .. 31, from left to right
//   total    =  folded in halves: lane l += lane l+16 for l < 16, then l+8 for l < 8, then 4, 2, 1
//
// where t_i is x_i, x_i y_i, x_i^2 or (x_i - y_i)^2, rounded. The remainder after the last whole
// row of 32 goes into the first lanes. Nothing is fused. The empty sum is 0.
//
// The error is that of 32 accumulators: at most (n/32 + 5) 2^-53 relative to the sum of magnitudes.
// NaN and infinity reach the result as they would in any order, except for overflow along the way.
// Compilers vectorize the lanes at any width; from about 10,000 numbers on, speed is limited by
// memory.
#pragma once

#include <span>

namespace paceline {

double sum(std::span<const double> x);
/// Sums floats as doubles.
double sum(std::span<const float> x);

/// Requires spans of the same length.
double dot(std::span<const double> x, std::span<const double> y);

/// Products of floats are exact in double.
double dot(std::span<const float> x, std::span<const float> y);

double squared_norm(std::span<const double> x);

/// Requires spans of the same length.
double squared_distance(std::span<const double> x, std::span<const double> y);

/// Returns the square root of the squared norm. Does not guard against overflow of the squares.
double norm(std::span<const double> x);

}  // namespace paceline
