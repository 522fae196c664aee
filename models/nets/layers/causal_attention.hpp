// Causal attention: each token takes a mean of the values of the tokens up to itself, once for each
// head.
//
//   p(t, .) = softmax over s <= t of  q_t . k_s / sqrt(c)        out_t = sum over s of p(t, s) v_s
//
//   d_v_s = sum over t of p(t, s) d_out_t                        d_p(t, s) = d_out_t . v_s
//   d_z(t, s) = p(t, s) (d_p(t, s) - sum over r of p(t, r) d_p(t, r)) / sqrt(c)
//   d_q_t = sum over s of d_z(t, s) k_s                          d_k_s = sum over t of d_z(t, s)
//   q_t
//
// c = width / heads is the width of a head. The input has 3 width features, those of q, k and v;
// head h has the features h c, h c + 1, ... of each. Source: Vaswani et al., Attention Is All You
// Need, NeurIPS 2017, section 3.2.
//
// The queries of a panel are its lanes (token_layers.hpp). Their scores are a matrix {keys, 32}
// that ends with the keys of the same panel, since no query sees a later one. A sequence of n
// panels thus takes (n + 1)/(2 n) of the products over all pairs. The shares p are stored for the
// backward pass: 512 n (n + 1) numbers for each sequence and head.
#pragma once

#include <Eigen/Core>

namespace paceline {

/// Where sequences lie: sequence i begins at panel i * panels of matrices whose features are `row`
/// apart.
struct Sequences {
    Eigen::Index count;
    Eigen::Index panels;
    Eigen::Index row;
};

template <class Scalar>
class CausalAttention {
  public:
    /// Requires heads that divide the width.
    CausalAttention(Eigen::Index width, Eigen::Index heads);

    /// Allocates memory for so many sequences of so many panels. Never frees any.
    void reserve(Eigen::Index count, Eigen::Index panels);

    void forward(const Sequences& sequences, const Scalar* qkv, Scalar* out);
    /// Requires an earlier forward() with the same arguments. Writes d_qkv.
    void backward(const Sequences& sequences, const Scalar* qkv, const Scalar* d_out,
                  Scalar* d_qkv);

  private:
    /// One head of one sequence, or the errors of its features.
    template <class Number>
    struct Head {
        Number* q;
        Number* k;
        Number* v;
    };

    template <class Number>
    [[nodiscard]] Head<Number> head(Number* qkv, Eigen::Index row, Eigen::Index h) const;
    void forward_head(const Sequences& sequences, Head<const Scalar> in, Scalar* shares,
                      Scalar* out) const;
    void backward_head(const Sequences& sequences, Head<const Scalar> in, const Scalar* shares,
                       const Scalar* d_out, Head<Scalar> d);

    Eigen::Index width_;
    Eigen::Index heads_;
    Eigen::Index head_width_;
    Scalar scale_;
    Eigen::Array<Scalar, Eigen::Dynamic, 1> shares_;      // by sequence, head, panel, key and lane
    Eigen::Array<Scalar, Eigen::Dynamic, 1> d_shares_;    // of one panel
    Eigen::Array<Scalar, Eigen::Dynamic, 1> transposed_;  // {32, keys}
};

}  // namespace paceline
