#include "models/nets/layers/causal_attention.hpp"

#include <algorithm>
#include <cmath>

#include "models/nets/layers/lanes.hpp"
#include "models/nets/layers/product.hpp"
#include "models/nets/layers/transpose.hpp"
#include "sim/engine/check.hpp"

namespace paceline {

namespace {

// Returns the shares of the first `panels` panels of a head: panel i sees the keys of i + 1 panels.
Index shares_of(Index panels) {
    return lanes * lanes * panels * (panels + 1) / 2;
}

}  // namespace

template <class Scalar>
CausalAttention<Scalar>::CausalAttention(Index width, Index heads)
    : width_(width), heads_(heads), head_width_(width / std::max<Index>(heads, 1)) {
    PACELINE_CHECK(heads >= 1 && width % heads == 0, "heads divide the width");
    scale_ = static_cast<Scalar>(1 / std::sqrt(static_cast<double>(head_width_)));
}

template <class Scalar>
void CausalAttention<Scalar>::reserve(Index count, Index panels) {
    const Index shares = count * heads_ * shares_of(panels);
    if (shares > shares_.size()) shares_.resize(shares);
    const Index of_panel = panels * lanes * lanes;
    if (of_panel <= d_shares_.size()) return;
    d_shares_.resize(of_panel);
    transposed_.resize(of_panel);
}

template <class Scalar>
template <class Number>
typename CausalAttention<Scalar>::template Head<Number> CausalAttention<Scalar>::head(
    Number* qkv, Index row, Index h) const {
    Number* q = qkv + h * head_width_ * row;
    return {q, q + width_ * row, q + 2 * width_ * row};
}

template <class Scalar>
void CausalAttention<Scalar>::forward(const Sequences& sequences, const Scalar* qkv, Scalar* out) {
    Scalar* shares = shares_.data();
    for (Index i = 0; i < sequences.count; ++i) {
        const Index first = i * sequences.panels * lanes;
        for (Index h = 0; h < heads_; ++h) {
            forward_head(sequences, head(qkv + first, sequences.row, h), shares,
                         out + first + h * head_width_ * sequences.row);
            shares += shares_of(sequences.panels);
        }
    }
}

template <class Scalar>
void CausalAttention<Scalar>::forward_head(const Sequences& sequences, Head<const Scalar> in,
                                           Scalar* shares, Scalar* out) const {
    const Index row = sequences.row;
    for (Index panel = 0; panel < sequences.panels; ++panel) {
        const Index first = panel * lanes;
        const Index keys = first + lanes;
        multiply<Scalar>(keys, lanes, head_width_, {in.k, 1, row}, in.q + first, row, shares,
                         lanes);
        kernels<Scalar>().causal_softmax(shares, keys, first, scale_);
        multiply<Scalar>(head_width_, lanes, keys, {in.v, row, 1}, shares, lanes, out + first, row);
        shares += keys * lanes;
    }
}

template <class Scalar>
void CausalAttention<Scalar>::backward(const Sequences& sequences, const Scalar* qkv,
                                       const Scalar* d_out, Scalar* d_qkv) {
    const Scalar* shares = shares_.data();
    for (Index i = 0; i < sequences.count; ++i) {
        const Index first = i * sequences.panels * lanes;
        for (Index h = 0; h < heads_; ++h) {
            backward_head(sequences, head(qkv + first, sequences.row, h), shares,
                          d_out + first + h * head_width_ * sequences.row,
                          head(d_qkv + first, sequences.row, h));
            shares += shares_of(sequences.panels);
        }
    }
}

// The last panel goes first: its queries see all keys, so its products start the sums.
template <class Scalar>
void CausalAttention<Scalar>::backward_head(const Sequences& sequences, Head<const Scalar> in,
                                            const Scalar* shares, const Scalar* d_out,
                                            Head<Scalar> d) {
    const Index row = sequences.row;
    for (Index panel = sequences.panels; panel-- > 0;) {
        const Index first = panel * lanes;
        const Index keys = first + lanes;
        const Scalar* p = shares + shares_of(panel);
        const ProductEnds<Scalar> ends{.start = panel + 1 == sequences.panels ? Start::zero
                                                                              : Start::sum};
        transpose(keys, lanes, p, lanes, transposed_.data(), keys);
        multiply<Scalar>(head_width_, keys, lanes, {d_out + first, row, 1}, transposed_.data(),
                         keys, d.v, row, ends);
        multiply<Scalar>(keys, lanes, head_width_, {in.v, 1, row}, d_out + first, row,
                         d_shares_.data(), lanes);
        kernels<Scalar>().causal_softmax_backward(p, keys, scale_, d_shares_.data());
        multiply<Scalar>(head_width_, lanes, keys, {in.k, row, 1}, d_shares_.data(), lanes,
                         d.q + first, row);
        transpose(keys, lanes, d_shares_.data(), lanes, transposed_.data(), keys);
        multiply<Scalar>(head_width_, keys, lanes, {in.q + first, row, 1}, transposed_.data(), keys,
                         d.k, row, ends);
    }
}

template class CausalAttention<float>;
template class CausalAttention<double>;

}  // namespace paceline
