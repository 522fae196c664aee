// Layers that treat every token alike, with the tokens in lanes: a transformer's dense layers and
// layer norms.
//
// Activations are matrices {features, tokens}. Each sequence starts a new panel of 32 tokens, and
// its last panel is padded, so a panel never holds tokens of two sequences. Padding has a zero
// embedding and is computed like any other token. It comes after all tokens of its sequence, so
// none of them sees it, and its errors are zero, so it adds nothing to a gradient.
//
//   dense        out = W in + b           dW = d_out in^T,  db = sum over tokens of d_out,  d_in =
//                                                           W^T d_out
//   layer norm   out = scale z + shift,   z = (in - mean) / sqrt(variance + 1e-5), both over the
//                                         features of a token
//                d_in = (e - mean of e - z mean of (e z)) / sqrt(variance + 1e-5),  e = scale d_out
//
// Source of the layer norm: Ba, Kiros, Hinton, arXiv:1607.06450 (2016); epsilon as in openai/gpt-2,
// src/model.py.
//
// Gradients of parameters are added to g, which the caller has set to zero at the beginning of a
// batch.
#pragma once

#include <Eigen/Core>

#include "models/nets/layers/lanes.hpp"

namespace paceline {

/// Rows of features, each with 32 tokens for every panel.
template <class Scalar>
class TokenMatrix {
  public:
    explicit TokenMatrix(Eigen::Index features) : features_(features) {}

    /// Allocates memory for this many panels. Never frees any.
    void reserve(Eigen::Index panels);

    [[nodiscard]] Eigen::Index features() const { return features_; }
    /// Returns the distance of neighboring features.
    [[nodiscard]] Eigen::Index row() const { return row_; }
    [[nodiscard]] Scalar* data() { return values_.data(); }
    [[nodiscard]] const Scalar* data() const { return values_.data(); }
    [[nodiscard]] Scalar* feature(Eigen::Index f) { return values_.data() + f * row_; }
    [[nodiscard]] const Scalar* feature(Eigen::Index f) const { return values_.data() + f * row_; }
    void set_zero() { values_.setZero(); }

  private:
    Eigen::Index features_;
    Eigen::Index row_ = 0;
    Eigen::Array<Scalar, Eigen::Dynamic, 1> values_;
};

/// Adds d in^T to the {rows, columns} matrix g, where d and in have a row of 32 x panels tokens for
/// each row and column of g. `strip` is scratch memory for 32 features of these tokens.
template <class Scalar>
void add_token_products(Eigen::Index rows, Eigen::Index columns, Eigen::Index panels,
                        const Scalar* d, Eigen::Index d_row, const Scalar* in, Eigen::Index in_row,
                        TokenMatrix<Scalar>& strip, Scalar* g);

/// A dense layer whose weights {out, in} begin at an offset of the parameters. Its biases follow.
template <class Scalar>
class TokenDense {
  public:
    TokenDense(Eigen::Index in, Eigen::Index out, Eigen::Index offset)
        : in_(in), out_(out), offset_(offset) {}

    [[nodiscard]] Eigen::Index end() const { return bias() + out_; }

    void forward(const Scalar* x, Eigen::Index panels, const TokenMatrix<Scalar>& in,
                 TokenMatrix<Scalar>& out) const;
    /// Computes out = base + W in + b.
    void forward_onto(const Scalar* x, Eigen::Index panels, const TokenMatrix<Scalar>& in,
                      const TokenMatrix<Scalar>& base, TokenMatrix<Scalar>& out) const;
    void backward(const Scalar* x, Eigen::Index panels, const TokenMatrix<Scalar>& in,
                  TokenMatrix<Scalar>& d_out, TokenMatrix<Scalar>& d_in, TokenMatrix<Scalar>& strip,
                  Scalar* g) const;

  private:
    [[nodiscard]] Eigen::Index bias() const { return offset_ + out_ * in_; }

    Eigen::Index in_;
    Eigen::Index out_;
    Eigen::Index offset_;
};

/// A layer norm whose scale begins at an offset of the parameters. Its shift follows.
template <class Scalar>
class TokenNorm {
  public:
    TokenNorm(Eigen::Index features, Eigen::Index offset) : features_(features), offset_(offset) {}

    [[nodiscard]] Eigen::Index end() const { return offset_ + 2 * features_; }

    void reserve(Eigen::Index panels);
    void forward(const Scalar* x, Eigen::Index panels, const TokenMatrix<Scalar>& in,
                 TokenMatrix<Scalar>& out);
    /// Requires an earlier forward() with the same input. Adds to d_in, which already holds the
    /// error of the residual connection.
    void backward(const Scalar* x, Eigen::Index panels, const TokenMatrix<Scalar>& in,
                  const TokenMatrix<Scalar>& d_out, TokenMatrix<Scalar>& d_in, Scalar* g);

  private:
    [[nodiscard]] LayerNorm<Scalar> norm(Eigen::Index panels, const TokenMatrix<Scalar>& in);

    Eigen::Index features_;
    Eigen::Index offset_;
    Eigen::Array<Scalar, Eigen::Dynamic, 1> mean_;  // by token
    Eigen::Array<Scalar, Eigen::Dynamic, 1> inverse_;
};

}  // namespace paceline
