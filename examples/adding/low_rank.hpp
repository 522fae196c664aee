// Low-rank softmax regression: logits = W (V input + c) + b, two dense layers without a
// nonlinearity between them.
//
// V has `rank` rows, so the rank of W V is at most that. Not convex. Tensors: down.weight
// {rank, features}, down.bias {rank}, up.weight {classes, rank}, up.bias {classes}.
#pragma once

#include <memory>

#include "models/nets/net.hpp"

namespace paceline {

struct LowRankShape {
    Eigen::Index features;
    Eigen::Index rank;
    Eigen::Index classes;
};

template <class Scalar>
std::unique_ptr<Net<Scalar>> make_low_rank(const LowRankShape& shape);

}  // namespace paceline
