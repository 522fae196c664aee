// A text as samples: a stream of tokens cut into windows that a net reads from their beginning.
//
//   sample j = tokens j*steps .. (j+1)*steps         (steps + 1 of them)
//
// The last token of a sample is the first of the next, so that every token but the stream's first is
// predicted exactly once. What is left at the end, less than a sample, is dropped.
#pragma once

#include <span>

#include <Eigen/Core>

namespace paceline {

/// (steps + 1) x samples; without a column if the stream is shorter. Requires steps >= 1.
Eigen::MatrixXi cut_tokens(std::span<const int> stream, int steps);

}  // namespace paceline
