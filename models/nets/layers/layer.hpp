// A layer: a differentiable function of a panel and of a few tensors. Also chains of layers.
//
// Images are stored in a panel channel by channel, each row by row, with a border of one pixel of
// zeros around every channel, so that 3 x 3 kernels need not test for the edge. The owner of a
// panel zeroes it once; layers write the pixels inside and never the border.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "models/nets/layers/lanes.hpp"
#include "models/tensors/layout.hpp"
#include "sim/engine/random.hpp"

namespace paceline {

struct ImageExtent {
    Eigen::Index channels;
    Eigen::Index height;
    Eigen::Index width;

    [[nodiscard]] Eigen::Index pixels() const { return channels * height * width; }
    /// Returns the features of a panel that holds such images, including their borders.
    [[nodiscard]] Eigen::Index features() const { return channels * (height + 2) * (width + 2); }
    /// Returns the feature of a pixel inside the border.
    [[nodiscard]] Eigen::Index feature(Eigen::Index channel, Eigen::Index y, Eigen::Index x) const {
        return (channel * (height + 2) + y + 1) * (width + 2) + x + 1;
    }
    /// Returns the pixels of one channel inside its border.
    [[nodiscard]] Plane plane() const { return {height, width, (width + 2) * lanes}; }
};

/// The arguments of a backward pass. d_ is the gradient of the loss with respect to a panel.
template <class Scalar>
struct BackwardPass {
    const Scalar* x;           // the parameters of this layer
    const Panel<Scalar>& in;   // as it was passed to forward()
    const Panel<Scalar>& out;  // as forward() left it
    Panel<Scalar>& d_out;      // a layer that ends in a ReLU masks it in place
    Panel<Scalar>* d_in;       // null: not needed
    Scalar* g;                 // the gradient of this layer's parameters
    bool add;                  // whether to add to g or to overwrite it
};

template <class Scalar>
class Layer {
  public:
    Layer() = default;
    Layer(const Layer&) = delete;
    Layer& operator=(const Layer&) = delete;
    virtual ~Layer() = default;

    [[nodiscard]] virtual Eigen::Index in_features() const = 0;
    [[nodiscard]] virtual Eigen::Index out_features() const = 0;
    [[nodiscard]] virtual std::vector<Tensor> tensors() const { return {}; }
    /// Returns the multiply-accumulates of one sample's forward pass, by tensor.
    [[nodiscard]] virtual std::vector<double> tensor_macs() const { return {}; }
    virtual void initialize(RandomStream&, Scalar* /*x*/) const {}
    virtual void forward(const Scalar* x, const Panel<Scalar>& in, Panel<Scalar>& out) = 0;
    /// Requires that the last call of forward() was with these panels. May defer the gradient of
    /// its parameters.
    virtual void backward(const BackwardPass<Scalar>& pass) = 0;
    /// Ends a batch: computes the deferred gradients in g, the same g as in backward().
    virtual void finish(Scalar* /*g*/) {}
};

template <class Scalar>
using Layers = std::vector<std::unique_ptr<Layer<Scalar>>>;

/// Consecutive layers, with the panels between them.
template <class Scalar>
class Chain final : public Layer<Scalar> {
  public:
    /// Requires at least one layer, each of which accepts the output of the one before it.
    explicit Chain(Layers<Scalar> layers);

    [[nodiscard]] Eigen::Index in_features() const override;
    [[nodiscard]] Eigen::Index out_features() const override;
    [[nodiscard]] std::vector<Tensor> tensors() const override;
    [[nodiscard]] std::vector<double> tensor_macs() const override;
    void initialize(RandomStream& stream, Scalar* x) const override;
    void forward(const Scalar* x, const Panel<Scalar>& in, Panel<Scalar>& out) override;
    void backward(const BackwardPass<Scalar>& pass) override;
    void finish(Scalar* g) override;

  private:
    Layers<Scalar> layers_;
    std::size_t first_trained_ = 0;       // no earlier layer has parameters
    std::vector<Eigen::Index> offsets_;   // of each layer's first parameter
    std::vector<Panel<Scalar>> between_;  // between_[i] is the output of layer i
    std::vector<Panel<Scalar>> d_between_;
};

/// Returns zeros for this many features.
template <class Scalar>
Panel<Scalar> zero_panel(Eigen::Index features) {
    return Panel<Scalar>::Zero(lanes, features);
}

/// Returns the number of entries in these tensors.
Eigen::Index entries_of(const std::vector<Tensor>& tensors);

/// Draws independent normal numbers with mean 0.
template <class Scalar>
void draw_normal(RandomStream& stream, double deviation, Eigen::Index count, Scalar* x);

}  // namespace paceline
