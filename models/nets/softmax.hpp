// Cross-entropy of a softmax, in nats, for a panel of predictions.
//
//   l = log(sum over c of exp(z_c)) - z_label = log(sum of exp(z_c - max z)) + max z - z_label
//   dl/dz_c = exp(z_c - max z) / sum - [c = label]
//
// The second form overflows for no finite logits. A logit that is not a number makes the loss of
// its sample not a number.
#pragma once

#include <span>

#include <Eigen/Core>

#include "models/nets/net.hpp"

namespace paceline {

/// The loss of the first labels.size() lanes, summed. Leaves weight x dl/dz in place of the logits,
/// and zeros in the other lanes. Logits of a class are 32 lanes; classes are `row` apart.
/// Requires labels in [0, classes).
template <class Scalar>
double softmax_gradient(Scalar* logits, Eigen::Index classes, Eigen::Index row,
                        std::span<const int> labels, Scalar weight);

/// Loss and right predictions of these lanes; a tie is predicted to be the first of its classes.
template <class Scalar>
Score softmax_score(const Scalar* logits, Eigen::Index classes, Eigen::Index row,
                    std::span<const int> labels);

}  // namespace paceline
