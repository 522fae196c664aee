// The kernels themselves (kernels.hpp says what each does). A translation unit per instruction set
// includes this file and makes its tables with make_kernels(). Everything here and in the headers
// below has internal linkage, so nothing else may include them.
#pragma once

#include "models/kernels/elementary.hpp"
#include "models/kernels/kernels.hpp"
#include "models/kernels/lstm.hpp"
#include "models/kernels/norms.hpp"
#include "models/kernels/products.hpp"
#include "models/kernels/softmax.hpp"

namespace paceline {

namespace {

template <class Scalar>
constexpr Kernels<Scalar> make_kernels() {
    return {
        .multiply = &multiply<Scalar>,
        .multiply_gathered = &multiply_gathered<Scalar>,
        .correlate_3x3 = &correlate_3x3<Scalar>,
        .dot_product = &dot_product<Scalar>,
        .exp = &exp<Scalar>,
        .tanh = &tanh<Scalar>,
        .logistic = &logistic<Scalar>,
        .masked_sum = &masked_sum<Scalar>,
        .softmax_exponentials = &softmax_exponentials<Scalar>,
        .softmax_sums = &softmax_sums<Scalar>,
        .scale_classes = &scale_classes<Scalar>,
        .lstm_forward = &lstm_forward<Scalar>,
        .lstm_backward = &lstm_backward<Scalar>,
        .add_pixels = &add_pixels<Scalar>,
        .add_squares = &add_squares<Scalar>,
        .inverse_deviation = &inverse_deviation<Scalar>,
        .norm_forward = &norm_forward<Scalar>,
        .norm_parameters = &norm_parameters<Scalar>,
        .norm_input = &norm_input<Scalar>,
        .layer_norm_forward = &layer_norm_forward<Scalar>,
        .layer_norm_backward = &layer_norm_backward<Scalar>,
        .gelu_forward = &gelu_forward<Scalar>,
        .gelu_backward = &gelu_backward<Scalar>,
        .causal_softmax = &causal_softmax<Scalar>,
        .causal_softmax_backward = &causal_softmax_backward<Scalar>,
    };
}

}  // namespace

}  // namespace paceline
