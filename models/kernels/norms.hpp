// Sums over pixels, and the normalizations of groups and layers.
#pragma once

#include "models/kernels/vectors.hpp"

namespace paceline {

namespace {

/// Calls visit(offset) for the lanes of each pixel.
template <class Visit>
PACELINE_INLINE void for_each_pixel(const Plane& plane, Visit visit) {
    for (Index y = 0; y < plane.height; ++y)
        for (Index x = 0; x < plane.width; ++x) visit(y * plane.row + x * panel_lanes);
}

/// d where the ReLU let it through, 0 elsewhere, in place.
template <class Scalar>
PACELINE_INLINE Lanes<Scalar> masked(Scalar* d, const Scalar* out) {
    using V = Lanes<Scalar>;
    const V error = load<V>(d);
    if (out == nullptr) return error;
    const V kept = load<V>(out) > V{} ? error : V{};
    store(d, kept);
    return kept;
}

template <class Scalar>
Scalar masked_sum(const Plane& plane, Scalar* d, const Scalar* out) {
    Lanes<Scalar> sum = {};
    for_each_pixel(plane, [&](Index at) PACELINE_ALWAYS_INLINE {
        sum += masked(d + at, out == nullptr ? nullptr : out + at);
    });
    return folded<Scalar>(sum);
}

template <class Scalar>
void add_pixels(const Plane& plane, const Scalar* in, Scalar* sum) {
    using V = Lanes<Scalar>;
    V all = load<V>(sum);
    for_each_pixel(plane, [&](Index at) PACELINE_ALWAYS_INLINE { all += load<V>(in + at); });
    store(sum, all);
}

template <class Scalar>
void add_squares(const Plane& plane, const Scalar* in, const Scalar* mean, Scalar* squares) {
    using V = Lanes<Scalar>;
    const V middle = load<V>(mean);
    V all = load<V>(squares);
    for_each_pixel(plane, [&](Index at) PACELINE_ALWAYS_INLINE {
        const V off = load<V>(in + at) - middle;
        all = fused(off, off, all);
    });
    store(squares, all);
}

template <class Scalar>
void inverse_deviation(const Scalar* squares, Scalar share, Scalar epsilon, Scalar* inverse) {
    using V = Lanes<Scalar>;
    const V variance = broadcast<V>(share) * load<V>(squares) + broadcast<V>(epsilon);
    store(inverse, broadcast<V>(Scalar{1}) / square_root(variance));
}

template <class Scalar>
void norm_forward(const NormChannel<Scalar>& channel, Scalar scale, Scalar shift, bool relu,
                  Scalar* out) {
    using V = Lanes<Scalar>;
    const V factor = broadcast<V>(scale) * load<V>(channel.inverse);
    const V rest = broadcast<V>(shift) - factor * load<V>(channel.mean);
    for_each_pixel(channel.plane, [&](Index at) PACELINE_ALWAYS_INLINE {
        V z = fused(factor, load<V>(channel.in + at), rest);
        if (relu) z = z < V{} ? V{} : z;
        store(out + at, z);
    });
}

template <class Scalar>
void norm_parameters(const NormChannel<Scalar>& channel, Scalar scale, Scalar* d_out,
                     const Scalar* out, Scalar* d_scale, Scalar* d_shift, Scalar* a, Scalar* b) {
    using V = Lanes<Scalar>;
    const V mean = load<V>(channel.mean);
    V shifts = {};
    V scales = {};
    for_each_pixel(channel.plane, [&](Index at) PACELINE_ALWAYS_INLINE {
        const V d = masked(d_out + at, out == nullptr ? nullptr : out + at);
        shifts += d;
        scales = fused(d, load<V>(channel.in + at) - mean, scales);
    });
    scales *= load<V>(channel.inverse);
    store(a, fused(broadcast<V>(scale), shifts, load<V>(a)));
    store(b, fused(broadcast<V>(scale), scales, load<V>(b)));
    *d_scale = folded<Scalar>(scales);
    *d_shift = folded<Scalar>(shifts);
}

template <class Scalar>
void norm_input(const NormChannel<Scalar>& channel, Scalar scale, const Scalar* d_out, Scalar share,
                const Scalar* a, const Scalar* b, Scalar* d_in) {
    using V = Lanes<Scalar>;
    const V mean = load<V>(channel.mean);
    const V inverse = load<V>(channel.inverse);
    const V from_d = broadcast<V>(scale) * inverse;
    const V from_mean = broadcast<V>(share) * load<V>(a) * inverse;
    const V from_in = broadcast<V>(share) * load<V>(b) * inverse * inverse;
    for_each_pixel(channel.plane, [&](Index at) PACELINE_ALWAYS_INLINE {
        const V off = load<V>(channel.in + at) - mean;
        const V without = fused(from_d, load<V>(d_out + at), -from_mean);
        store(d_in + at, fused(-from_in, off, without));
    });
}

template <class Scalar>
void layer_norm_forward(const LayerNorm<Scalar>& norm, const Scalar* scale, const Scalar* shift,
                        Scalar epsilon, Scalar* out) {
    using V = Lanes<Scalar>;
    const Index features = norm.tokens.features;
    const V share = broadcast<V>(Scalar{1} / static_cast<Scalar>(features));
    for (Index at = 0; at < norm.tokens.panels * panel_lanes; at += panel_lanes) {
        const Scalar* in = norm.in + at;
        V sum = {};
        for (Index f = 0; f < features; ++f) sum += load<V>(in + f * norm.tokens.row);
        const V mean = sum * share;
        V squares = {};
        for (Index f = 0; f < features; ++f) {
            const V off = load<V>(in + f * norm.tokens.row) - mean;
            squares = fused(off, off, squares);
        }
        const V inverse =
            broadcast<V>(Scalar{1}) / square_root(fused(squares, share, broadcast<V>(epsilon)));
        store(norm.mean + at, mean);
        store(norm.inverse + at, inverse);
        for (Index f = 0; f < features; ++f) {
            const V z = (load<V>(in + f * norm.tokens.row) - mean) * inverse;
            store(out + at + f * norm.tokens.row,
                  fused(broadcast<V>(scale[f]), z, broadcast<V>(shift[f])));
        }
    }
}

// The gradients of the scale and the shift of one feature.
template <class Scalar>
PACELINE_INLINE void add_norm_parameters(const LayerNorm<Scalar>& norm, const Scalar* in,
                                         const Scalar* d_out, Scalar& d_scale, Scalar& d_shift) {
    using V = Lanes<Scalar>;
    V scales = {};
    V shifts = {};
    for (Index at = 0; at < norm.tokens.panels * panel_lanes; at += panel_lanes) {
        const V d = load<V>(d_out + at);
        const V z = (load<V>(in + at) - load<V>(norm.mean + at)) * load<V>(norm.inverse + at);
        scales = fused(d, z, scales);
        shifts += d;
    }
    d_scale += folded<Scalar>(scales);
    d_shift += folded<Scalar>(shifts);
}

template <class Scalar>
void layer_norm_backward(const LayerNorm<Scalar>& norm, const Scalar* scale, const Scalar* d_out,
                         Scalar* d_in, Scalar* d_scale, Scalar* d_shift) {
    using V = Lanes<Scalar>;
    const Index features = norm.tokens.features;
    const Index row = norm.tokens.row;
    const V share = broadcast<V>(Scalar{1} / static_cast<Scalar>(features));
    for (Index f = 0; f < features; ++f)
        add_norm_parameters(norm, norm.in + f * row, d_out + f * row, d_scale[f], d_shift[f]);
    for (Index at = 0; at < norm.tokens.panels * panel_lanes; at += panel_lanes) {
        const V mean = load<V>(norm.mean + at);
        const V inverse = load<V>(norm.inverse + at);
        V a = {};
        V b = {};
        for (Index f = 0; f < features; ++f) {
            const V d = broadcast<V>(scale[f]) * load<V>(d_out + at + f * row);
            a += d;
            b = fused(d, (load<V>(norm.in + at + f * row) - mean) * inverse, b);
        }
        a *= share;
        b *= share;
        for (Index f = 0; f < features; ++f) {
            const V z = (load<V>(norm.in + at + f * row) - mean) * inverse;
            const V d = broadcast<V>(scale[f]) * load<V>(d_out + at + f * row);
            const V error = fused(-z, b, d - a);
            store(d_in + at + f * row, fused(inverse, error, load<V>(d_in + at + f * row)));
        }
    }
}

}  // namespace

}  // namespace paceline
