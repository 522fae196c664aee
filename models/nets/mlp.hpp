// Multilayer perceptron: fully connected layers with ReLU between them.
//
//   h_0 = input,   h_i = max(W_i h_(i-1) + b_i, 0),   logits = W_L h_(L-1) + b_L
//
// Tensors fc1.weight {hidden[0], features}, fc1.bias {hidden[0]}, fc2.weight, ... He initialization
// (dense_layer.hpp).
#pragma once

#include <memory>
#include <vector>

#include "models/nets/net.hpp"

namespace paceline {

struct MlpShape {
    Eigen::Index features;
    std::vector<Eigen::Index> hidden;  // widths; none: softmax regression with a random start
    Eigen::Index classes;
};

template <class Scalar>
std::unique_ptr<Net<Scalar>> make_mlp(const MlpShape& shape);

}  // namespace paceline
