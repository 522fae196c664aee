// One layer of an LSTM over a panel: all steps of 32 samples (lstm.hpp has the equations).
//
// Sequences of inputs and outputs are stored step by step, each step a panel: feature f of step t
// is column t * features + f. Gradients of weights are computed from a copy with the sample as the
// slower index, {steps x lanes, features}.
#pragma once

#include <Eigen/Core>

#include "models/nets/layers/lanes.hpp"

namespace paceline {

template <class Scalar>
class LstmLayer {
  public:
    /// Where the layer's tensors begin, or for gradients, where they are written.
    template <class Number>
    struct Tensors {
        Number* input;
        Number* recurrent;
        Number* bias;
    };

    LstmLayer(Eigen::Index in, Eigen::Index hidden);

    /// Allocates memory for sequences of this many steps. Never frees any.
    void reserve(Eigen::Index steps);

    void forward(Tensors<const Scalar> x, Eigen::Index steps, const Panel<Scalar>& in);
    /// Requires an earlier forward() with the same steps. in_samples is the input with the sample
    /// as the slower index. Writes the gradient with respect to the input to d_in. Overwrites
    /// d_out().
    void backward(Tensors<const Scalar> x, Eigen::Index steps, const Scalar* in_samples,
                  Panel<Scalar>& d_in, Tensors<Scalar> g, bool add);

    /// Returns the outputs of all steps.
    [[nodiscard]] const Panel<Scalar>& out() const { return h_; }
    [[nodiscard]] const Scalar* out_samples() const { return h_samples_.data(); }
    /// Returns the gradient with respect to the outputs, which must be written before backward().
    [[nodiscard]] Panel<Scalar>& d_out() { return d_h_; }

  private:
    void activate(Eigen::Index step);
    void backward_step(Eigen::Index step);
    void backward_weights(Eigen::Index steps, const Scalar* in_samples, Tensors<Scalar> g,
                          bool add);
    [[nodiscard]] LstmStep<Scalar> at(Eigen::Index step);
    /// Returns the 32 lanes of a gate's unit (of 4 hidden) at a step.
    [[nodiscard]] Scalar* gate(Eigen::Index unit, Eigen::Index step) {
        return gates_.data() + unit * gate_row_ + step * lanes;
    }

    Eigen::Index in_;
    Eigen::Index hidden_;
    Eigen::Index room_ = 0;                          // allocated, in steps
    Eigen::Index gate_row_ = 0;                      // the steps of a unit, with a gap after them
    Eigen::Array<Scalar, Eigen::Dynamic, 1> gates_;  // after backward, gradients before activation
    Panel<Scalar> c_;
    Panel<Scalar> tanh_c_;
    Panel<Scalar> h_;
    Panel<Scalar> d_h_;
    Panel<Scalar> d_c_;            // of one step
    Panel<Scalar> d_h_recurrent_;  // of one step, from the step after it
    Eigen::Array<Scalar, Eigen::Dynamic, 1> h_samples_;
};

}  // namespace paceline
