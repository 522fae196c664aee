// The activations of a transformer that a device keeps from the forward pass of a gradient to its
// backward pass.
//
//   bytes of a layer  =  s b h (w (3 + 2 g) + 1)          inputs of query, key and value, scores,
//                                                         values and output; a mask
//                     +  a s^2 b (2 w + 1)                softmax, and what dropout leaves of it; a
//                                                         mask
//                     +  s b (w (h + 2 f) + h)            GELU: inputs of both matrices and of the
//                                                         GELU itself; a mask
//                     +  2 w s b h                        inputs of both norms
//   bytes at the ends =  s b h  +  2 w s b h  +  4 s b V  mask of the embedding; inputs of the norm
//                                                         and of the output; logits in fp32
//
//   w = 2, g = 1, f = 4 h:  s b h (34 + 5 a s/h) for a layer, 11 + 5 a s/h of them attention's, 19
//                           of the feed-forward part and 4 of the norms
//
//   none        all layers                           L layer
//   selective   all without a s^2 b (2 w + 1)        L (layer - core)  +  one core
//   full        the input of each layer              L w s b h         +  one layer
//
// What is computed again exists for one layer at a time; the paper leaves this out: its equations
// are s b h L (34 + 5 a s/h), 34 s b h L and 2 s b h L.
//
//   symbol   meaning
//   s, b     tokens of a sequence, sequences of a gradient
//   h, a, L  width, heads, layers
//   g        key-value heads / heads
//   f, V     width of the feed-forward part, tokens of the vocabulary
//   w        bytes of a number: 2 in fp16 and bf16, 4 in fp32 and tf32; a mask of dropout has 1
//
// Llama's parts (SwiGLU) are trained without dropout, so that masks are left out and the softmax is
// kept once; SwiGLU keeps the inputs of gate and up (one), both of their outputs, that of the
// sigmoid unit, and their product, w (h + 4 f) (derived; an implementation that fuses them keeps
// less). A fused attention that never stores the scores, such as FlashAttention, is what selective
// recomputation keeps, but for the one core.
//
// Source: Korthikanti et al., arXiv 2205.05198, equations 1 to 6. Not modeled: parts of a layer on
// several devices (tensor, sequence and pipeline parallelism), workspaces, fragmentation.
#pragma once

#include <cstdint>

#include "models/decoder_sizes.hpp"
#include "models/recompute.hpp"

namespace paceline {

/// Bytes of one layer, of a gradient of one sequence, and the part that selective recomputation
/// does without.
struct LayerActivations {
    double all = 0;
    double core = 0;
};

/// Requires 2 or 4 bytes a number.
LayerActivations layer_activations(const DecoderSizes& sizes, int bytes_of_number);

/// Returns the bytes of a gradient of so many sequences. Requires 2 or 4 bytes a number.
double activation_bytes(const DecoderSizes& sizes, std::int64_t sequences, int bytes_of_number,
                        Recompute recompute);

}  // namespace paceline
