#include "models/nets/layers/token_layers.hpp"

#include <algorithm>

#include "models/nets/layers/product.hpp"
#include "models/nets/layers/transpose.hpp"

namespace paceline {

template <class Scalar>
void TokenMatrix<Scalar>::reserve(Index panels) {
    if (panels * lanes <= row_) return;
    // The gap of half a panel row keeps features from being a power of two apart, where they would
    // share a few sets of the cache.
    row_ = panels * lanes + lanes / 2;
    values_.resize(features_ * row_);
}

template <class Scalar>
void add_token_products(Index rows, Index columns, Index panels, const Scalar* d, Index d_row,
                        const Scalar* in, Index in_row, TokenMatrix<Scalar>& strip, Scalar* g) {
    for (Index first = 0; first < columns; first += lanes) {
        const Index width = std::min(lanes, columns - first);
        transpose(width, panels * lanes, in + first * in_row, in_row, strip.data(), lanes);
        multiply<Scalar>(rows, width, panels * lanes, {d, d_row, 1}, strip.data(), lanes, g + first,
                         columns, {.start = Start::sum});
    }
}

template <class Scalar>
void TokenDense<Scalar>::forward(const Scalar* x, Index panels, const TokenMatrix<Scalar>& in,
                                 TokenMatrix<Scalar>& out) const {
    multiply<Scalar>(out_, panels * lanes, in_, {x + offset_, in_, 1}, in.data(), in.row(),
                     out.data(), out.row(), {.start = Start::bias, .bias = x + bias()});
}

template <class Scalar>
void TokenDense<Scalar>::forward_onto(const Scalar* x, Index panels, const TokenMatrix<Scalar>& in,
                                      const TokenMatrix<Scalar>& base,
                                      TokenMatrix<Scalar>& out) const {
    for (Index f = 0; f < out_; ++f)
        std::transform(base.feature(f), base.feature(f) + panels * lanes, out.feature(f),
                       [b = x[bias() + f]](Scalar value) { return value + b; });
    multiply<Scalar>(out_, panels * lanes, in_, {x + offset_, in_, 1}, in.data(), in.row(),
                     out.data(), out.row(), {.start = Start::sum});
}

template <class Scalar>
void TokenDense<Scalar>::backward(const Scalar* x, Index panels, const TokenMatrix<Scalar>& in,
                                  TokenMatrix<Scalar>& d_out, TokenMatrix<Scalar>& d_in,
                                  TokenMatrix<Scalar>& strip, Scalar* g) const {
    for (Index f = 0; f < out_; ++f)
        g[bias() + f] += kernels<Scalar>().masked_sum({1, panels, 0}, d_out.feature(f), nullptr);
    add_token_products(out_, in_, panels, d_out.data(), d_out.row(), in.data(), in.row(), strip,
                       g + offset_);
    multiply<Scalar>(in_, panels * lanes, out_, {x + offset_, 1, in_}, d_out.data(), d_out.row(),
                     d_in.data(), d_in.row());
}

template <class Scalar>
void TokenNorm<Scalar>::reserve(Index panels) {
    if (panels * lanes <= mean_.size()) return;
    mean_.resize(panels * lanes);
    inverse_.resize(panels * lanes);
}

template <class Scalar>
LayerNorm<Scalar> TokenNorm<Scalar>::norm(Index panels, const TokenMatrix<Scalar>& in) {
    return {{features_, panels, in.row()}, in.data(), mean_.data(), inverse_.data()};
}

template <class Scalar>
void TokenNorm<Scalar>::forward(const Scalar* x, Index panels, const TokenMatrix<Scalar>& in,
                                TokenMatrix<Scalar>& out) {
    constexpr auto epsilon = static_cast<Scalar>(1e-5);
    kernels<Scalar>().layer_norm_forward(norm(panels, in), x + offset_, x + offset_ + features_,
                                         epsilon, out.data());
}

template <class Scalar>
void TokenNorm<Scalar>::backward(const Scalar* x, Index panels, const TokenMatrix<Scalar>& in,
                                 const TokenMatrix<Scalar>& d_out, TokenMatrix<Scalar>& d_in,
                                 Scalar* g) {
    kernels<Scalar>().layer_norm_backward(norm(panels, in), x + offset_, d_out.data(), d_in.data(),
                                          g + offset_, g + offset_ + features_);
}

template class TokenMatrix<float>;
template class TokenMatrix<double>;
template class TokenDense<float>;
template class TokenDense<double>;
template class TokenNorm<float>;
template class TokenNorm<double>;
template void add_token_products(Index, Index, Index, const float*, Index, const float*, Index,
                                 TokenMatrix<float>&, float*);
template void add_token_products(Index, Index, Index, const double*, Index, const double*, Index,
                                 TokenMatrix<double>&, double*);

}  // namespace paceline
