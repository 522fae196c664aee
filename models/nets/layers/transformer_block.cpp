#include "models/nets/layers/transformer_block.hpp"

#include <algorithm>

namespace paceline {

template <class Scalar>
TransformerScratch<Scalar>::TransformerScratch(const TransformerBlockShape& shape)
    : narrow(shape.width), wide(std::max(3 * shape.width, shape.inner)), strip(lanes) {}

template <class Scalar>
void TransformerScratch<Scalar>::reserve(Index panels) {
    for (TokenMatrix<Scalar>* matrix : {&narrow, &wide, &strip}) matrix->reserve(panels);
}

template <class Scalar>
TransformerBlock<Scalar>::TransformerBlock(const TransformerBlockShape& shape, Index offset)
    : norm1_(shape.width, offset),
      qkv_(shape.width, 3 * shape.width, norm1_.end()),
      attention_(shape.width, shape.heads),
      projection_(shape.width, shape.width, qkv_.end()),
      norm2_(shape.width, projection_.end()),
      inner_(shape.width, shape.inner, norm2_.end()),
      outer_(shape.inner, shape.width, inner_.end()),
      normed_in_(shape.width),
      qkv_of_tokens_(3 * shape.width),
      attended_(shape.width),
      middle_(shape.width),
      normed_middle_(shape.width),
      before_gelu_(shape.inner),
      gelu_share_(shape.inner),
      after_gelu_(shape.inner) {}

template <class Scalar>
void TransformerBlock<Scalar>::reserve(Index count, Index panels) {
    attention_.reserve(count, panels);
    norm1_.reserve(count * panels);
    norm2_.reserve(count * panels);
    for (TokenMatrix<Scalar>* matrix : {&normed_in_, &qkv_of_tokens_, &attended_, &middle_,
                                        &normed_middle_, &before_gelu_, &gelu_share_, &after_gelu_})
        matrix->reserve(count * panels);
}

template <class Scalar>
void TransformerBlock<Scalar>::forward(const Scalar* x, const Sequences& sequences,
                                       const TokenMatrix<Scalar>& in, TokenMatrix<Scalar>& out) {
    const Index panels = sequences.count * sequences.panels;
    norm1_.forward(x, panels, in, normed_in_);
    qkv_.forward(x, panels, normed_in_, qkv_of_tokens_);
    attention_.forward(sequences, qkv_of_tokens_.data(), attended_.data());
    projection_.forward_onto(x, panels, attended_, in, middle_);
    norm2_.forward(x, panels, middle_, normed_middle_);
    inner_.forward(x, panels, normed_middle_, before_gelu_);
    for (Index f = 0; f < before_gelu_.features(); ++f)
        kernels<Scalar>().gelu_forward(panels * lanes, before_gelu_.feature(f),
                                       gelu_share_.feature(f), after_gelu_.feature(f));
    outer_.forward_onto(x, panels, after_gelu_, middle_, out);
}

template <class Scalar>
void TransformerBlock<Scalar>::backward(const Scalar* x, const Sequences& sequences,
                                        const TokenMatrix<Scalar>& in, TokenMatrix<Scalar>& d,
                                        TransformerScratch<Scalar>& scratch, Scalar* g) {
    const Index panels = sequences.count * sequences.panels;
    outer_.backward(x, panels, after_gelu_, d, scratch.wide, scratch.strip, g);
    for (Index f = 0; f < before_gelu_.features(); ++f)
        kernels<Scalar>().gelu_backward(panels * lanes, before_gelu_.feature(f),
                                        gelu_share_.feature(f), scratch.wide.feature(f));
    inner_.backward(x, panels, normed_middle_, scratch.wide, scratch.narrow, scratch.strip, g);
    norm2_.backward(x, panels, middle_, scratch.narrow, d, g);
    projection_.backward(x, panels, attended_, d, scratch.narrow, scratch.strip, g);
    attention_.backward(sequences, qkv_of_tokens_.data(), scratch.narrow.data(),
                        scratch.wide.data());
    qkv_.backward(x, panels, normed_in_, scratch.wide, scratch.narrow, scratch.strip, g);
    norm1_.backward(x, panels, in, scratch.narrow, d, g);
}

template struct TransformerScratch<float>;
template struct TransformerScratch<double>;
template class TransformerBlock<float>;
template class TransformerBlock<double>;

}  // namespace paceline
