// Lanes: how nets lay out a batch, so that every inner loop is a full vector.
//
// A net takes its batch in panels of 32 samples. In a panel the sample is the fastest index: a
// panel of r rows is an array of 32 x r numbers, and column f holds feature f of all 32 samples, a
// sample to a lane. Whatever a net does is then the same operation on 32 neighboring numbers:
// softmax, normalization and pooling need no sum across a vector, and a product W X reads W as it
// lies in the parameters, {out, in} row by row, one broadcast number at a time (product.hpp).
// Nothing is packed, copied to columns (im2col) or allocated.
//
// A panel that is not full holds zeros in the lanes left over, and costs as much as a full one:
// batches that are multiples of 32 are the fastest. The number is a constant of the project and not
// of the machine, so that sums over a batch are formed in the same order everywhere.
#pragma once

#include <algorithm>

#include <Eigen/Core>

#include "models/kernels/kernels.hpp"

namespace paceline {

inline constexpr Eigen::Index lanes = panel_lanes;

/// One number of each of the panel's samples.
template <class Scalar>
using Lanes = Eigen::Array<Scalar, lanes, 1>;

/// A row of lanes per feature. Its data is aligned for vectors.
template <class Scalar>
using Panel = Eigen::Array<Scalar, lanes, Eigen::Dynamic>;

template <class Scalar>
using LanesMap = Eigen::Map<Lanes<Scalar>>;
template <class Scalar>
using ConstLanesMap = Eigen::Map<const Lanes<Scalar>>;

/// z where it is positive or no number, else 0. (Eigen 3.4 has no vectors for select(); compilers
/// make them of this loop.)
template <class Scalar>
Lanes<Scalar> relu(const Lanes<Scalar>& z) {
    Lanes<Scalar> out;
    for (Eigen::Index lane = 0; lane < lanes; ++lane)
        out[lane] = z[lane] < Scalar{0} ? Scalar{0} : z[lane];
    return out;
}

/// The larger of a and b, and a where one of them is no number. (Eigen's max() leaves that to the processor.)
template <class Scalar>
Lanes<Scalar> larger(const Lanes<Scalar>& a, const Lanes<Scalar>& b) {
    Lanes<Scalar> out;
    for (Eigen::Index lane = 0; lane < lanes; ++lane) out[lane] = b[lane] > a[lane] ? b[lane] : a[lane];
    return out;
}

/// d where out, which a ReLU gave, is positive; else 0.
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
