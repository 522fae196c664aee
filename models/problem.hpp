// What a training job minimizes: the loss of a net on a data set whose training samples are divided
// into shards, one for each worker.
//
//   f(x)    =  (1/n) sum over workers i of f_i(x)
//   f_i(x)  =  w_i mean over the samples of shard i of  loss(x; sample)  +  (decay / 2) |x|^2
//   w_i     =  1, or what the scenario weighs worker i by; 1 in the mean
//
// A gradient is that of a minibatch of the worker's shard, drawn from the worker's own stream. The
// decay covers all parameters. Values are double; the net computes in its own scalar type.
//
// Several threads may request gradients at once, each for different workers. Results depend neither
// on the order of the requests nor on the number of threads: partial sums of a batch are added in
// the order of the parts, and the parts depend on the batch alone.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <Eigen/Core>

#include "models/data/batch_sampler.hpp"
#include "models/data/dataset.hpp"
#include "models/nets/net.hpp"
#include "models/tensors/vector.hpp"

namespace paceline {

class Problem {
  public:
    Problem() = default;
    Problem(const Problem&) = delete;
    Problem& operator=(const Problem&) = delete;
    virtual ~Problem() = default;

    [[nodiscard]] virtual const LayoutPtr& layout() const = 0;
    /// Returns the parameters that every worker starts from.
    [[nodiscard]] virtual Eigen::VectorXd start() const = 0;
    /// Returns the gradient of the next batch of worker `rank` at x.
    [[nodiscard]] virtual Eigen::VectorXd gradient(const Vector& x, int rank) = 0;
    /// Returns the mean of the gradients of all workers' next batches at the same x. Requires that
    /// w_i is worker i's share of the batches, in units of the mean. Not thread-safe.
    [[nodiscard]] virtual Eigen::VectorXd mean_gradient(const Vector& x) = 0;
    /// Returns whether a prediction can be right or wrong.
    [[nodiscard]] virtual bool classifies() const = 0;
    /// Returns the score over the evaluated training samples, without decay. Not thread-safe.
    [[nodiscard]] virtual Score train_score(const Eigen::VectorXd& x) = 0;
    [[nodiscard]] virtual Score test_score(const Eigen::VectorXd& x) = 0;
};

struct ProblemOptions {
    std::vector<std::vector<int>> shards{};  // training samples of each worker
    int batch = 32;                          // of one worker
    std::vector<int> batches{};              // of each worker; empty: `batch`
    std::vector<double> weights{};           // of each worker's loss, 1 in the mean; empty: all 1
    Sampling sampling = Sampling::passes;
    double weight_decay = 0;
    std::int64_t most_scored = 8192;  // evaluated of each part of the data set, evenly spread
    std::uint64_t seed = 1;           // of the start and of the batches
};

/// Scalar is float or double.
template <class Scalar>
std::unique_ptr<Problem> make_problem(std::unique_ptr<Net<Scalar>> net,
                                      std::shared_ptr<const Dataset> data, ProblemOptions options);

}  // namespace paceline
