// Sums of many numbers whose shape, and so whose bits, never depend on the machine.
//
// Eigen's and the standard library's sums have as many accumulators as the instruction set has
// lanes, so the same vector has another norm on another processor. Here there are always 32:
//
//   lane l   =  t_l + t_(l+32) + t_(l+64) + ..          l = 0 .. 31, from left to right
//   total    =  folded in halves: lane l += lane l+16 for l < 16, then l+8 for l < 8, then 4, 2, 1
//
// where t_i is x_i, x_i y_i, x_i^2 or (x_i - y_i)^2, rounded. What is left behind the last whole row of
// 32 goes into the first lanes. Nothing is fused. The empty sum is 0.
//
// Errors are those of 32 accumulators: relative to the sum of magnitudes, at most (n/32 + 5) 2^-53.
// NaN and infinity reach the result as they would in any order, but for overflow on the way.
// Compilers turn lanes into vectors of any width; speed is that of memory from some 10,000 numbers on.
#pragma once

#include <span>

namespace paceline {

double sum(std::span<const double> x);
/// Sums floats as doubles.
double sum(std::span<const float> x);

/// Requires spans of one length.
double dot(std::span<const double> x, std::span<const double> y);

/// Products of floats are exact in double.
double dot(std::span<const float> x, std::span<const float> y);

double squared_norm(std::span<const double> x);

/// Requires spans of one length.
double squared_distance(std::span<const double> x, std::span<const double> y);

/// Returns the square root of the squared norm, without care for overflow of squares.
double norm(std::span<const double> x);

}  // namespace paceline
