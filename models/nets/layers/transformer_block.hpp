// One block of a decoder-only transformer, over sequences in lanes (transformer.hpp has the
// equations).
//
// backward() needs the block's input, attention's shares and 7 width + 3 inner more numbers for
// each token, which forward() stores.
#pragma once

#include <Eigen/Core>

#include "models/nets/layers/causal_attention.hpp"
#include "models/nets/layers/token_layers.hpp"

namespace paceline {

struct TransformerBlockShape {
    Eigen::Index width;
    Eigen::Index heads;
    Eigen::Index inner;
};

/// Scratch memory of backward passes, shared by all blocks.
template <class Scalar>
struct TransformerScratch {
    explicit TransformerScratch(const TransformerBlockShape& shape);
    void reserve(Eigen::Index panels);

    TokenMatrix<Scalar> narrow;  // {width, tokens}
    TokenMatrix<Scalar> wide;    // {3 width or inner, tokens}
    TokenMatrix<Scalar> strip;   // {tokens, 32}
};

template <class Scalar>
class TransformerBlock {
  public:
    /// The block's tensors begin at an offset of the parameters, in the order of transformer.hpp.
    TransformerBlock(const TransformerBlockShape& shape, Eigen::Index offset);

    /// Returns where the tensors end.
    [[nodiscard]] Eigen::Index end() const { return outer_.end(); }

    /// Allocates memory for so many sequences of so many panels. Never frees any.
    void reserve(Eigen::Index count, Eigen::Index panels);

    void forward(const Scalar* x, const Sequences& sequences, const TokenMatrix<Scalar>& in,
                 TokenMatrix<Scalar>& out);
    /// Requires an earlier forward() with the same arguments. Replaces d, the error of the output,
    /// by that of the input, and adds to g.
    void backward(const Scalar* x, const Sequences& sequences, const TokenMatrix<Scalar>& in,
                  TokenMatrix<Scalar>& d, TransformerScratch<Scalar>& scratch, Scalar* g);

  private:
    TokenNorm<Scalar> norm1_;
    TokenDense<Scalar> qkv_;
    CausalAttention<Scalar> attention_;
    TokenDense<Scalar> projection_;
    TokenNorm<Scalar> norm2_;
    TokenDense<Scalar> inner_;
    TokenDense<Scalar> outer_;

    TokenMatrix<Scalar> normed_in_;
    TokenMatrix<Scalar> qkv_of_tokens_;
    TokenMatrix<Scalar> attended_;
    TokenMatrix<Scalar> middle_;  // after attention has been added
    TokenMatrix<Scalar> normed_middle_;
    TokenMatrix<Scalar> before_gelu_;
    TokenMatrix<Scalar> gelu_share_;
    TokenMatrix<Scalar> after_gelu_;
};

}  // namespace paceline
