// Softmax regression: logits = W input + b, the multinomial form of logistic regression. Convex.
//
// Tensors are weight {classes, features} and bias {classes}. Starts at zero, where the loss is
// ln(classes).
#pragma once

#include <memory>

#include "models/nets/net.hpp"

namespace paceline {

template <class Scalar>
std::unique_ptr<Net<Scalar>> make_softmax_regression(Eigen::Index features, Eigen::Index classes);

}  // namespace paceline
