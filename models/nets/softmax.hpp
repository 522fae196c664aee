// Cross-entropy of a softmax, in nats, for a panel of predictions.
//
//   l = log(sum over c of exp(z_c)) - z_label = log(sum of exp(z_c - max z)) + max z - z_label
//   dl/dz_c = exp(z_c - max z) / sum - [c = label]
//
// The second form does not overflow for any finite logits. A NaN logit makes the loss of its sample
// NaN.
#pragma once

#include <span>

#include <Eigen/Core>

#include "models/nets/net.hpp"

namespace paceline {

/// Returns the sum of the losses of the first labels.size() lanes. Replaces the logits by weight x
/// dl/dz, and by zeros in the other lanes. The logits of a class are 32 lanes; classes are `row`
/// apart. Requires labels in [0, classes).
template <class Scalar>
double softmax_gradient(Scalar* logits, Eigen::Index classes, Eigen::Index row,
                        std::span<const int> labels, Scalar weight);

/// Returns the loss and the right predictions of these lanes. On a tie the first of the tied
/// classes is predicted.
template <class Scalar>
Score softmax_score(const Scalar* logits, Eigen::Index classes, Eigen::Index row,
                    std::span<const int> labels);

}  // namespace paceline
