// Samples of a data set, one column each, in the form that nets read.
//
//   kind of data     members
//   classification   inputs (features x samples), labels (a class per sample)
//   regression       inputs, targets (a number per sample)
//   text             tokens ((steps + 1) x samples): token t is the input of step t, token t+1
//                    the expected prediction
//
// Features are floats, whatever scalar type a net computes in. Images are stored channel by
// channel, each row by row.
#pragma once

#include <span>

#include <Eigen/Core>

namespace paceline {

struct Samples {
    Eigen::MatrixXf inputs;
    Eigen::MatrixXi tokens;
    Eigen::VectorXi labels;
    Eigen::VectorXf targets;

    [[nodiscard]] Eigen::Index count() const {
        return inputs.size() > 0 ? inputs.cols() : tokens.cols();
    }
};

/// Copies these samples, in this order, into `batch`, which allocates only if it has to grow.
/// Requires numbers in [0, all.count()).
void gather(const Samples& all, std::span<const int> which, Samples& batch);

}  // namespace paceline
