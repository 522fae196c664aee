// Lanes: the layout of a batch that makes every inner loop a full vector.
//
// A net processes its batch in panels of 32 samples. In a panel the sample is the fastest index: a
// panel of r rows is an array of 32 x r numbers, and column f holds feature f of all 32 samples,
// one sample per lane. Every operation of a net is then the same operation on 32 neighboring
// numbers. Softmax, normalization and pooling need no sum across a vector. A product W X reads W as
// it is stored in the parameters, {out, in} row by row, one broadcast number at a time
// (product.hpp). Nothing is copied to columns (im2col) or allocated; only a dense layer packs its
// inputs, for the gradient of its weights.
//
// A partial panel holds zeros in the unused lanes and costs as much as a full one, so batches that
// are multiples of 32 are the fastest. The number 32 is a constant of the project and not of the
// machine, so that sums over a batch are formed in the same order everywhere.
#pragma once

#include <algorithm>

#include <Eigen/Core>

#include "models/kernels/kernels.hpp"

namespace paceline {

inline constexpr Eigen::Index lanes = panel_lanes;

/// One number for each of the panel's samples.
template <class Scalar>
using Lanes = Eigen::Array<Scalar, lanes, 1>;

/// One row of lanes per feature. Its data is aligned for vectors.
template <class Scalar>
using Panel = Eigen::Array<Scalar, lanes, Eigen::Dynamic>;

/// Returns z where it is positive or NaN, else 0. (Eigen 3.4 does not vectorize select(); compilers
/// vectorize this loop.)
template <class Scalar>
Lanes<Scalar> relu(const Lanes<Scalar>& z) {
    Lanes<Scalar> out;
    for (Eigen::Index lane = 0; lane < lanes; ++lane)
        out[lane] = z[lane] < Scalar{0} ? Scalar{0} : z[lane];
    return out;
}

/// Returns the larger of a and b, and a where one of them is NaN. (With Eigen's max() that case
/// depends on the processor.)
template <class Scalar>
Lanes<Scalar> larger(const Lanes<Scalar>& a, const Lanes<Scalar>& b) {
    Lanes<Scalar> out;
    for (Eigen::Index lane = 0; lane < lanes; ++lane)
        out[lane] = b[lane] > a[lane] ? b[lane] : a[lane];
    return out;
}

/// Returns d where out, the output of a ReLU, is positive, else 0.
template <class Scalar>
Lanes<Scalar> relu_gradient(const Lanes<Scalar>& d, const Lanes<Scalar>& out) {
    Lanes<Scalar> masked;
    for (Eigen::Index lane = 0; lane < lanes; ++lane)
        masked[lane] = out[lane] > Scalar{0} ? d[lane] : Scalar{0};
    return masked;
}

/// Calls visit(first sample, samples) for each panel of a batch, in order.
template <class Visit>
void for_each_panel(Eigen::Index samples, Visit visit) {
    for (Eigen::Index first = 0; first < samples; first += lanes)
        visit(first, std::min(lanes, samples - first));
}

}  // namespace paceline
