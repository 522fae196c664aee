// A mixing as the dense matrix W, for tests to calculate with.
#pragma once

#include <Eigen/Core>

#include "topologies/mixing/mixing.hpp"

namespace paceline {

inline Eigen::MatrixXd matrix(const Mixing& mixing) {
    Eigen::MatrixXd w = Eigen::MatrixXd::Zero(mixing.nodes(), mixing.nodes());
    for (int i = 0; i < mixing.nodes(); ++i)
        for (const MixingWeight& weight : mixing.row(i)) w(i, weight.node) = weight.weight;
    return w;
}

}  // namespace paceline
