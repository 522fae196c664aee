// A decoder-only transformer by its sizes, as GPT-2 or Llama has them: the profile of a net that
// nobody has published.
//
//   embedding    V x d, the matrix of the output, too, unless it has one of its own (untied);  T x
//                d learned positions
//   each layer   norm;  query, key, value d x (d + 2 d g);  output d x d;  norm;  feed-forward
//   at the end   norm;  output V x d
//
// The parts that models differ in, GPT-2's first:
//
//   feed-forward   gelu: inner d x f, outer f x d;   swiglu: gate and up d x f each, down f x d
//   norm           layer: a weight and a bias;       rms: a weight
//   positions      learned: a table T x d;           rotary: computed from the position, no
//                                                    parameters
//   biases         of all matrices but the output's, and of layer norms;  or none
//
//   parameters             V d (V d more if untied) + T d (if learned) + L (W + 2 n + b) + n
//   MACs of a sequence     T (L W + V d)  +  2 L T^2 d             matrices; attention over all
//                                            pairs of tokens
//
//     W = 2 d^2 (1 + g) + m d f                       matrices of a layer; m = 2 (gelu) or 3
//                                                     (swiglu)
//     n = 2 d or d                                    a norm with or without a bias
//     b = d (3 + 2 g) + (m - 1) f, or 0 without       biases of a layer's matrices
//
//   symbol   here              meaning
//   L        layers
//   d        width             of a token's vector
//   g        key_value_heads / heads   share of the heads with a key and a value of their own
//                                      (grouped-query attention);
//                              `heads` divide d and change nothing else
//   V        vocabulary        tokens that are told apart
//   T        context           tokens of a sequence, which is a sample
//   f        inner             width of the feed-forward part, 4 d in GPT-2
//
// Units: entries; multiply-accumulates of a forward pass, of matrix products only, as in the other
// profiles. A causal mask would spare half of attention's products; what does not skip them does
// them all, and so does this. Query, key and value are one tensor, as in GPT-2; Llama's releases
// store three, whose sizes add up to the same.
//
// Sources: GPT-2: architecture and names (Radford et al., 2019; openai/gpt-2 src/model.py). Llama:
// Touvron et al., 2023 (RMSNorm, SwiGLU, rotary positions); grouped-query attention: Ainslie et
// al., 2023. With their sizes the numbers of parameters are those of the released models
// (tests/models/decoder_test.cpp).
#pragma once

#include "models/decoder_sizes.hpp"
#include "models/profile.hpp"

namespace paceline {

/// Requires sizes of 1 or more, heads that divide the width and key-value heads that divide the
/// heads.
Profile decoder_profile(const DecoderSizes& sizes);

/// Returns the number of parameters, also of sizes that are too large for a profile.
double parameters_of(const DecoderSizes& sizes);

}  // namespace paceline
