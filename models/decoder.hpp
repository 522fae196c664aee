// A decoder-only transformer by its sizes, as GPT-2 has them: the profile of a net that nobody has published.
//
//   embedding    V x d, the matrix of the output, too, unless it has one of its own (untied);  T x d positions
//   each layer   norm;  query, key, value d x 3 d;  output d x d;  norm;  inner d x f;  outer f x d      biases everywhere
//   at the end   norm;  output V x d
//
//   parameters             V d + T d + L (4 d^2 + 2 d f + 9 d + f) + 2 d   and V d more if untied
//   MACs of a sequence     T (L (4 d^2 + 2 d f) + V d)  +  2 L T^2 d       matrices; attention over all pairs of tokens
//
//   symbol   here         meaning
//   L        layers
//   d        width        of a token's vector; `heads` divide it and change neither sizes nor work
//   V        vocabulary   tokens that are told apart
//   T        context      tokens of a sequence, which is a sample
//   f        inner        width of the feed-forward part, 4 d in GPT-2
//
// Units: entries; multiply-accumulates of a forward pass, of matrix products only, as in the other profiles. A causal
// mask would spare half of attention's products; what does not skip them does them all, and so does this.
//
// Source: architecture and names of GPT-2 (Radford et al., 2019; openai/gpt-2 src/model.py). With its sizes the numbers
// of parameters are those of the released models.
#pragma once

#include <cstdint>

#include "models/profile.hpp"

namespace paceline {

struct DecoderSizes {
    std::int64_t layers = 1;
    std::int64_t width = 1;
    std::int64_t heads = 1;
    std::int64_t vocabulary = 1;
    std::int64_t context = 1;
    std::int64_t inner = 4;
    bool tied = true;
};

/// Requires sizes of 1 or more.
Profile decoder_profile(const DecoderSizes& sizes);

/// Returns the number of parameters, also of sizes that are too large for a profile.
double parameters_of(const DecoderSizes& sizes);

}  // namespace paceline
