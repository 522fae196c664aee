// A net: a differentiable model as a function of one flat vector of parameters.
//
//   loss(x; batch) = mean over the predictions of the batch of  l(net(input; x), target)
//
// l is the cross-entropy of a softmax, in nats, or half the squared error. The loss has no
// regularization in it: weight decay is the optimizer's. A prediction is a sample's, or for text a
// step's of a sample. A sample's loss does not depend on which others are in its batch (groups are
// normalized, never batches), so the gradient of a batch is the mean of those of its parts.
//
// A net owns its scratch memory: it is used by one thread at a time, and allocates nothing once it
// has seen its largest batch. Scalar is what it computes in: float in runs, double where gradients
// are held against finite differences, and for convex models.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <Eigen/Core>

#include "models/data/samples.hpp"
#include "models/layout.hpp"
#include "sim/engine/random.hpp"

namespace paceline {

/// Sums over predictions, so that parts of a data set add up.
struct Score {
    double loss = 0;
    std::int64_t correct = 0;  // predictions of the right class; 0 for regression
    std::int64_t predictions = 0;

    Score& operator+=(const Score& other) {
        loss += other.loss;
        correct += other.correct;
        predictions += other.predictions;
        return *this;
    }
};

template <class Scalar>
class Net {
  public:
    using Parameters = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;

    Net() = default;
    Net(const Net&) = delete;
    Net& operator=(const Net&) = delete;
    virtual ~Net() = default;

    [[nodiscard]] virtual const LayoutPtr& layout() const = 0;
    /// The parameters to start from. Requires x of the layout's size.
    virtual void initialize(RandomStream& stream, Parameters& x) const = 0;
    /// Mean loss of the batch at x, and its gradient into g (resized). Requires a sample or more.
    virtual double gradient(const Parameters& x, const Samples& batch, Parameters& g) = 0;
    /// Loss and right predictions, without a gradient.
    [[nodiscard]] virtual Score score(const Parameters& x, const Samples& batch) = 0;
    /// Multiply-accumulates of one sample's forward pass, by tensor of the layout.
    [[nodiscard]] virtual std::vector<double> tensor_macs() const = 0;
    /// The same net with scratch of its own, for another thread.
    [[nodiscard]] virtual std::unique_ptr<Net> clone() const = 0;
};

}  // namespace paceline
