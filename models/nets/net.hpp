// A net: a differentiable model, as a function of one flat vector of parameters.
//
//   loss(x; batch) = mean over the predictions of the batch of  l(net(input; x), target)
//
// l is the cross-entropy of a softmax, in nats, or half the squared error. The loss includes no
// regularization; weight decay belongs to the optimizer. There is one prediction per sample, or for
// text one per step of a sample. A sample's loss does not depend on the other samples in its batch
// (groups are normalized, never batches), so the gradient of a batch is the mean of the gradients
// of its parts.
//
// A net owns its scratch memory. Only one thread may use it at a time, and it allocates nothing
// once it has seen its largest batch. Scalar is the type that it computes in: float in runs, double
// for convex models and where gradients are checked against finite differences.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <Eigen/Core>

#include "models/data/samples.hpp"
#include "models/tensors/layout.hpp"
#include "sim/engine/random.hpp"

namespace paceline {

/// Sums over predictions, so that the scores of parts of a data set can be added.
struct Score {
    double loss = 0;
    std::int64_t correct = 0;  // predictions of the right class; 0 for regression
    std::int64_t predictions = 0;
    std::optional<double> accuracy{};  // of a problem that does not count; of the whole data set

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
    /// Sets the initial parameters. Requires x of the layout's size.
    virtual void initialize(RandomStream& stream, Parameters& x) const = 0;
    /// Returns the mean loss of the batch at x and writes its gradient to g (resized). Requires at
    /// least one sample.
    virtual double gradient(const Parameters& x, const Samples& batch, Parameters& g) = 0;
    /// Returns the loss and the number of right predictions, without a gradient.
    [[nodiscard]] virtual Score score(const Parameters& x, const Samples& batch) = 0;
    /// Returns the multiply-accumulates of one sample's forward pass, by tensor of the layout.
    [[nodiscard]] virtual std::vector<double> tensor_macs() const = 0;
    /// Returns the same net with its own scratch memory, for another thread.
    [[nodiscard]] virtual std::unique_ptr<Net> clone() const = 0;
};

}  // namespace paceline
