// Linear regression: prediction = weight . input + bias, loss half the squared error. Convex.
//
//   loss = 1/(2 n) |A w + b 1 - y|^2,   dw = A^T r / n,   db = 1^T r / n,   r = A w + b 1 - y
//
// A has one sample per row. Tensors are weight {1, features} and, unless left out, bias {1}. Starts
// at zero.
#pragma once

#include <memory>

#include "models/nets/net.hpp"

namespace paceline {

struct LinearRegressionShape {
    Eigen::Index features;
    bool bias = true;
};

template <class Scalar>
std::unique_ptr<Net<Scalar>> make_linear_regression(const LinearRegressionShape& shape);

}  // namespace paceline
