// Kernels: the inner loops of nets, compiled once for every instruction set that pays.
//
// One program holds the same loops compiled for x86-64-v3 (AVX2, FMA) and for x86-64-v4 (AVX-512),
// and chooses between them when it starts (isa.hpp). Elsewhere it holds them once, for the
// compiler's default.
//
// All of them give the same bits:
//   (1) every multiply-add is fused, and so rounded once; no other operations are contracted,
//   (2) an entry of a product is a sum over k = 0, 1, 2, ... in this order, whatever the tile,
//   (3) a sum over samples or pixels is formed in a fixed number of lanes, which are folded in
//   halves:
//       lane i takes up lane i + 16, then i + 8, 4, 2 and 1,
//   (4) exp and tanh are polynomials of our own (elementary.hpp), the same on every target.
//
// The loops lie in the headers that kernel_bodies.hpp includes, in unnamed namespaces, and include
// nothing of the standard library, of Eigen or of the project but this header and each other: an
// inline function that two of these translation units shared would be merged by the linker, and an
// old processor would meet an instruction it does not have. tools/check_symbols.py holds that: such
// an object defines one symbol and needs none but C's memory functions.
#pragma once

#include <cstddef>

namespace paceline {

using Index = std::ptrdiff_t;

/// The samples of a panel (models/nets/layers/lanes.hpp).
inline constexpr Index panel_lanes = 32;

/// A matrix somewhere in memory: entry (i, k) is at data[i * row + k * column].
template <class Scalar>
struct Strided {
    const Scalar* data;
    Index row;
    Index column;
};

/// What the sum of a product starts from.
enum class Start : unsigned char {
    zero,
    bias,  // one number per row of C
    sum,   // what C holds
};

enum class Finish : unsigned char { plain, relu };

/// What happens around a product.
template <class Scalar>
struct ProductEnds {
    Start start = Start::zero;
    const Scalar* bias = nullptr;
    Finish finish = Finish::plain;
};

/// The pixels of one channel of errors; neighbors are 32 lanes apart.
struct ErrorGrid {
    Index height;
    Index width;
    Index row;  // distance of rows
};

/// What the first tap of a 3 x 3 kernel sees from those pixels.
struct InputGrid {
    Index row;      // between neighboring rows of errors
    Index pixel;    // between neighboring errors of a row
    Index tap_row;  // between the rows of taps
};

/// The pixels of a channel, 32 lanes each: rows of neighbors, `row` numbers apart.
struct Plane {
    Index height;
    Index width;
    Index row;
};

/// One step of an LSTM's units. Gates i, f, g, o of unit u are at gates + (u + {0, 1, 2, 3} units)
/// gate_row; the rest has 32 lanes a unit. c_before is null at the first step.
template <class Scalar>
struct LstmStep {
    Index units;
    Scalar* gates;
    Index gate_row;
    const Scalar* c_before;
    Scalar* c;
    Scalar* tanh_c;
    Scalar* h;
};

/// What the step before is told: d_h = d_h + d_h_recurrent is the error of h; d_c is read and
/// written.
template <class Scalar>
struct LstmErrors {
    const Scalar* d_h;
    const Scalar* d_h_recurrent;
    Scalar* d_c;
};

/// A channel that is normalized. mean and inverse are of its group, 32 lanes each.
template <class Scalar>
struct NormChannel {
    Plane plane;
    const Scalar* in;
    const Scalar* mean;
    const Scalar* inverse;
};

/// Tokens in lanes: feature f of the tokens of panel p is the 32 numbers at f * row + 32 p.
struct TokenPanels {
    Index features;
    Index panels;
    Index row;
};

/// Tokens that are normalized over their features. mean and inverse have 32 lanes for each panel.
template <class Scalar>
struct LayerNorm {
    TokenPanels tokens;
    const Scalar* in;
    Scalar* mean;
    Scalar* inverse;
};

/// The table of one instruction set. Pointers to lanes need no alignment. What is written overlaps
/// nothing that is read, but where a function says that it works in place.
template <class Scalar>
struct Kernels {
    // Products (models/nets/layers/product.hpp).
    void (*multiply)(Index rows, Index columns, Index depth, Strided<Scalar> a, const Scalar* b,
                     Index b_row, Scalar* c, Index c_row, ProductEnds<Scalar> ends);
    void (*multiply_gathered)(Index rows, Index depth, Strided<Scalar> a, const Scalar* b,
                              const Index* b_rows, Scalar* c, Index c_row,
                              ProductEnds<Scalar> ends);
    void (*correlate_3x3)(Index rows, const Scalar* d, Index d_row, const ErrorGrid& grid,
                          const Scalar* x, const InputGrid& seen, Scalar* g, Index g_row);

    /// sum of a_k b_k, in 32 lanes.
    Scalar (*dot_product)(Index n, const float* a, const Scalar* b);

    /// out_k = exp(x_k), tanh(x_k) or 1/(1 + exp(-x_k)) for any n; out may be x. exp and tanh are
    /// within 1 ulp (where the result is normal), logistic within 2.5. NaN gives NaN.
    void (*exp)(Index n, const Scalar* x, Scalar* out);
    void (*tanh)(Index n, const Scalar* x, Scalar* out);
    void (*logistic)(Index n, const Scalar* x, Scalar* out);

    /// The sum of all lanes of d's pixels. With `out`, which a ReLU gave, d is first set to zero in
    /// place wherever out is not positive.
    Scalar (*masked_sum)(const Plane& plane, Scalar* d, const Scalar* out);

    /// Replaces the logits, classes of 32 lanes each `row` apart, by exp(z - max); leaves max and
    /// the sums.
    void (*softmax_exponentials)(Scalar* logits, Index classes, Index row, Scalar* max,
                                 Scalar* sum);
    /// The same without changing the logits.
    void (*softmax_sums)(const Scalar* logits, Index classes, Index row, Scalar* max, Scalar* sum);
    /// Multiplies every class by 32 factors, in place.
    void (*scale_classes)(Scalar* logits, Index classes, Index row, const Scalar* factor);

    void (*lstm_forward)(const LstmStep<Scalar>& step);
    /// Leaves the gradients before activation in place of the gates.
    void (*lstm_backward)(const LstmStep<Scalar>& step, const LstmErrors<Scalar>& errors);

    // Group normalization, a channel at a time; `sum`, `squares` and the like are 32 lanes that are
    // added to.
    void (*add_pixels)(const Plane& plane, const Scalar* in, Scalar* sum);
    void (*add_squares)(const Plane& plane, const Scalar* in, const Scalar* mean, Scalar* squares);
    /// inverse = 1/sqrt(share squares + epsilon)
    void (*inverse_deviation)(const Scalar* squares, Scalar share, Scalar epsilon, Scalar* inverse);
    /// out = scale (in - mean) inverse + shift, and the ReLU of that if it is wanted.
    void (*norm_forward)(const NormChannel<Scalar>& channel, Scalar scale, Scalar shift, bool relu,
                         Scalar* out);
    /// Masks d_out as masked_sum does, leaves d_scale and d_shift, and adds scale times the lanes
    /// of d_shift and of d_scale to a and b.
    void (*norm_parameters)(const NormChannel<Scalar>& channel, Scalar scale, Scalar* d_out,
                            const Scalar* out, Scalar* d_scale, Scalar* d_shift, Scalar* a,
                            Scalar* b);
    /// d_in = inverse (scale d_out - share a - (in - mean) inverse share b)
    void (*norm_input)(const NormChannel<Scalar>& channel, Scalar scale, const Scalar* d_out,
                       Scalar share, const Scalar* a, const Scalar* b, Scalar* d_in);

    // Transformers (models/nets/transformer.hpp).
    /// Leaves mean and inverse = 1/sqrt(variance + epsilon); out = scale_f (in - mean) inverse +
    /// shift_f.
    void (*layer_norm_forward)(const LayerNorm<Scalar>& norm, const Scalar* scale,
                               const Scalar* shift, Scalar epsilon, Scalar* out);
    /// Adds to d_in, d_scale and d_shift. Requires mean and inverse as the forward pass left them.
    void (*layer_norm_backward)(const LayerNorm<Scalar>& norm, const Scalar* scale,
                                const Scalar* d_out, Scalar* d_in, Scalar* d_scale,
                                Scalar* d_shift);
    /// GELU in its tanh form, for n numbers: share = (1 + tanh u)/2, out = x share, where u =
    /// sqrt(2/pi) (x + 0.044715 x^3).
    void (*gelu_forward)(Index n, const Scalar* x, Scalar* share, Scalar* out);
    /// Multiplies d by the derivative, in place.
    void (*gelu_backward)(Index n, const Scalar* x, const Scalar* share, Scalar* d);
    /// The lanes are 32 queries, number first, first + 1, ...; scores of `keys` keys lie 32 lanes
    /// apart. Replaces them by softmax(scale scores) over the keys up to the query's own number,
    /// and by 0 at later keys.
    void (*causal_softmax)(Scalar* scores, Index keys, Index first, Scalar scale);
    /// With the shares p of the forward pass, replaces d, the error of p, by that of the scores.
    void (*causal_softmax_backward)(const Scalar* p, Index keys, Scalar scale, Scalar* d);
};

/// The kernels of the instruction set that isa.hpp has chosen.
template <class Scalar>
const Kernels<Scalar>& kernels();
template <>
const Kernels<float>& kernels<float>();
template <>
const Kernels<double>& kernels<double>();

}  // namespace paceline
