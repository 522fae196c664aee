// A small decoder-only transformer that trains, in the form of GPT-2: a language model beside the
// LSTM.
//
//   x = E_token + P_t                                           token and position, t < context
//   x = x + W_p attention(norm1(x)) + b_p                       each block; causal_attention.hpp
//   x = x + W_o gelu(W_i norm2(x) + b_i) + b_o
//   logits_t = V norm(x_t),   loss = mean over samples and steps of the cross-entropy with token
//                             t+1
//
//   gelu(z) = z/2 (1 + tanh(sqrt(2/pi) (z + 0.044715 z^3)))     norm: token_layers.hpp
//
//   symbol   here         meaning
//   L        layers       blocks
//   d        width        of a token's vector; `heads` divide it
//   f        inner        width between W_i and W_o, 4 d in GPT-2
//   T        context      steps of a sample
//
// Each prediction is one token. Losses are nats per token. There is no dropout.
// Source: Radford et al., Language Models are Unsupervised Multitask Learners (2019); openai/gpt-2,
// src/model.py. Tied embeddings: Press and Wolf, EACL 2017.
//
// Tensors are embedding {vocabulary, d}, position {T, d}; for each block block1.norm1.scale {d},
// .norm1.shift {d}, .qkv.weight {3 d, d}, .qkv.bias {3 d}, .projection.weight {d, d},
// .projection.bias {d}, .norm2.scale {d}, .norm2.shift {d}, .inner.weight {f, d}, .inner.bias {f},
// .outer.weight {d, f}, .outer.bias {d}; then norm.scale {d}, norm.shift {d}. V is the embedding,
// or output.weight {vocabulary, d} if untied. These are as many parameters as those of the
// transformer that only costs time (models/decoder.hpp), whose matrices are stored the other way
// around.
//
// Initial matrices are normal with deviation 0.02; positions 0.01; projection.weight and
// outer.weight 0.02 / sqrt(2 L), because 2 L of them add up. Scales are 1, shifts and biases 0.
// (The factor is the paper's; deviations and epsilon are those of the released code, which leaves
// the factor out.)
//
// Work: T multiply-accumulates for each entry of a matrix, and 2 T^2 d of each block's attention,
// over all pairs of tokens as in models/decoder.hpp. Attention's are charged to qkv.weight, whose
// gradient the backward pass computes right after them.
//
// Tokens are lanes, each sequence in whole panels of 32: contexts that are multiples of 32 are the
// fastest, and a batch may have any size. 8 panels, or one sequence if it is longer, are computed
// at a time. For each of their tokens L (8 d + 3 f + heads (T + 32)/2) numbers are stored; and the
// logits of as many panels as fit in a million numbers, or of one.
#pragma once

#include <memory>

#include "models/nets/net.hpp"

namespace paceline {

struct TransformerShape {
    Eigen::Index vocabulary;
    Eigen::Index context;  // the most steps of a sample
    Eigen::Index width;
    Eigen::Index heads = 1;  // requires that they divide the width
    Eigen::Index inner = 4;
    int layers = 1;
    bool tied = true;  // V is the embedding
};

/// Returns how many sequences of so many steps are computed, and their activations stored, at a
/// time.
Eigen::Index transformer_sequences_at_once(Eigen::Index steps);

template <class Scalar>
std::unique_ptr<Net<Scalar>> make_transformer(const TransformerShape& shape);

}  // namespace paceline
