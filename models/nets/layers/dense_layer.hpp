// A fully connected layer: z = W in + b, followed by out = max(z, 0) if it ends in a ReLU.
//
//   dW = dz in^T,   db = sum over lanes of dz,   d_in = W^T dz
//
// Tensors are <prefix>weight {out, in} and <prefix>bias {out}. Initial weights are normal with
// variance gain / in, where the gain is 2 before a ReLU (He, Zhang, Ren, Sun, ICCV 2015, eq. 10)
// and 1 otherwise. Initial biases are 0.
#pragma once

#include <memory>
#include <string>

#include <Eigen/Core>

#include "models/nets/layers/layer.hpp"

namespace paceline {

struct DenseShape {
    Eigen::Index in;
    Eigen::Index out;
    bool relu = false;
    bool start_at_zero = false;
};

template <class Scalar>
std::unique_ptr<Layer<Scalar>> make_dense_layer(const std::string& prefix, const DenseShape& shape);

}  // namespace paceline
