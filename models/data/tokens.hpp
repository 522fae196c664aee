// Cuts a stream of tokens into samples: windows that a net reads from their beginning.
//
//   sample j = tokens j*steps .. (j+1)*steps         (steps + 1 of them)
//
// The last token of a sample is the first of the next, so that every token except the stream's
// first is predicted exactly once. An incomplete sample at the end is dropped.
#pragma once

#include <span>

#include <Eigen/Core>

namespace paceline {

/// Returns (steps + 1) x samples, without columns if the stream is too short. Requires steps >= 1.
Eigen::MatrixXi cut_tokens(std::span<const int> stream, int steps);

}  // namespace paceline
