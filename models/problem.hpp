// What a training job minimizes: a net on a data set whose training samples lie in shards, one for
// each worker.
//
//   f(x)    =  (1/n) sum over workers i of f_i(x)
//   f_i(x)  =  mean over the samples of shard i of  loss(x; sample)  +  (decay / 2) |x|^2
//
// A gradient is that of a minibatch of the worker's shard, drawn from the worker's own stream; the
// decay is over all parameters. Values are double; the net computes in what it was made for.
//
// Several threads may ask for gradients at once, each for other workers. Results do not depend on
// who asks first, nor on the number of threads: sums over parts of a batch are taken in the order
// of the parts, and the parts depend on the batch alone.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <Eigen/Core>

#include "models/data/batch_sampler.hpp"
#include "models/data/dataset.hpp"
#include "models/nets/net.hpp"
#include "models/vector.hpp"

namespace paceline {

class Problem {
  public:
    Problem() = default;
    Problem(const Problem&) = delete;
    Problem& operator=(const Problem&) = delete;
    virtual ~Problem() = default;

    [[nodiscard]] virtual const LayoutPtr& layout() const = 0;
    /// The parameters that every worker starts from.
    [[nodiscard]] virtual Eigen::VectorXd start() const = 0;
    /// The gradient of the next batch of worker `rank` at x.
    [[nodiscard]] virtual Eigen::VectorXd gradient(const Vector& x, int rank) = 0;
    /// The mean of the gradients of the next batches of all workers at one x; by one thread alone.
    [[nodiscard]] virtual Eigen::VectorXd mean_gradient(const Vector& x) = 0;
    /// Whether a prediction can be right or wrong.
    [[nodiscard]] virtual bool classifies() const = 0;
    /// Over the training samples that are scored, without decay; by one thread alone.
    [[nodiscard]] virtual Score train_score(const Eigen::VectorXd& x) = 0;
    [[nodiscard]] virtual Score test_score(const Eigen::VectorXd& x) = 0;
};

struct ProblemOptions {
    std::vector<std::vector<int>> shards{};  // training samples of each worker
    int batch = 32;                          // of one worker
    Sampling sampling = Sampling::passes;
    double weight_decay = 0;
    std::int64_t most_scored = 8192;  // samples of each part of the data set, evenly spread over it
    std::uint64_t seed = 1;           // of the start and the batches
};

/// Scalar is float or double.
template <class Scalar>
std::unique_ptr<Problem> make_problem(std::unique_ptr<Net<Scalar>> net,
                                      std::shared_ptr<const Dataset> data, ProblemOptions options);

}  // namespace paceline
