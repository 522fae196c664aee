// Layer-wise adaptive rate scaling (LARS): makes each tensor's step proportional to the tensor's
// norm, independent of the size of its gradient.
//
//   r_l  =  eta |x_l| / (|g_l| + lambda |x_l| + eps)
//   g_l  <-  r_l (g_l + lambda x_l)
//
//   symbol    here            meaning
//   x_l, g_l                  a tensor of the model, and its gradient; |.| is the Euclidean norm
//   eta       trust           how far learning rate 1 moves a tensor, relative to its norm
//   lambda    weight_decay    L2 regularization, scaled with the gradient
//   eps       epsilon         against division by zero
//   r_l                       trust ratio
//
// With clipping (LARC), the trust ratio acts as a rate of its own, bounded by the learning rate
// gamma: r_l <- min(r_l, gamma) / gamma. A step is then never longer than that of plain SGD.
//
// A tensor where x_l or g_l is zero passes through unchanged, without decay, so that zeros can
// leave zero. Tensors of one dimension (biases, normalization) pass through unchanged, neither
// scaled nor decayed. LARS runs before momentum. Without values it does nothing.
//
// Source: You, Gitman, Ginsburg, "Large Batch Training of Convolutional Networks", arXiv
// 1708.03888, 2017, Algorithm 1; clipping and the exception of zeros: NVIDIA Apex LARC.
#pragma once

#include "models/tensors/vector.hpp"

namespace paceline {

struct LarsOptions {
    double trust = 0.001;
    double weight_decay = 0;
    double epsilon = 1e-8;
    bool clip = false;
};

/// Returns the gradient g at x as LARS passes it to momentum. Requires gamma > 0 if `clip` is set.
Vector lars_scaled(Vector g, const Vector& x, double gamma, const LarsOptions& options);

}  // namespace paceline
