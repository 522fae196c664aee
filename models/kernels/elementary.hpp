// Elementary functions of lanes: exp, tanh, logistic and GELU.
//
// exp: x = n ln 2 + r with |r| <= ln 2 / 2 and ln 2 in two parts, exp(r) = 1 + (r + r^2 P(r)); 2^n
// is multiplied in two halves, so that results overflow and become subnormal as they should. tanh:
// x + x^3 Q(x^2) where |x| < 1, else 1 - 2/(exp(2 |x|) + 1) with the sign of x. P and Q are minimax
// polynomials (Remez, in 60 digits): their relative errors are below 2^-28 and 2^-31 of the result
// for floats, 2^-64 and 2^-59 for doubles.
#pragma once

#include "models/kernels/vectors.hpp"

namespace paceline {

namespace {

template <class Scalar>
struct Coefficients;

template <>
struct Coefficients<float> {
    static constexpr float log2_e = 0x1.715476p+0F;
    static constexpr float ln_2_high = 0x1.62e400p-1F;  // 15 bits: n ln_2_high is exact
    static constexpr float ln_2_low = 0x1.7f7d1cp-20F;
    static constexpr float least = -105;  // exp(x) is 0 below, and infinite above `greatest`
    static constexpr float greatest = 90;
    static constexpr float exp_p[] = {0x1.fffffcp-2F, 0x1.555492p-3F, 0x1.5558f2p-5F,
                                      0x1.123a20p-7F, 0x1.6a23d0p-10F};
    static constexpr float tanh_q[] = {-0x1.555552p-2F,  0x1.11105ep-3F,  -0x1.b9fbdap-5F,
                                       0x1.64ebcap-6F,   -0x1.19a510p-7F, 0x1.938488p-9F,
                                       -0x1.b8ffa4p-11F, 0x1.fd7c68p-14F};
};

template <>
struct Coefficients<double> {
    static constexpr double log2_e = 0x1.71547652b82fep+0;
    static constexpr double ln_2_high = 0x1.62e42fefa0000p-1;  // 38 bits
    static constexpr double ln_2_low = 0x1.cf79abc9e3b3ap-40;
    static constexpr double least = -746;
    static constexpr double greatest = 710;
    static constexpr double exp_p[] = {
        0x1p-1,
        0x1.555555555555bp-3,
        0x1.5555555555503p-5,
        0x1.111111110ec3fp-7,
        0x1.6c16c16c305d9p-10,
        0x1.a01a01b38a1c9p-13,
        0x1.a01a01364f1b1p-16,
        0x1.71ddf00274126p-19,
        0x1.27e5b490fb915p-22,
        0x1.af6c1dd099a6dp-26,
        0x1.1e3d0a6b28c24p-29,
    };
    static constexpr double tanh_q[] = {
        -0x1.555555555554fp-2,  0x1.1111111110aedp-3,   -0x1.ba1ba1b9dc14cp-5,
        0x1.664f487847af3p-6,   -0x1.226e345581f65p-7,  0x1.d6d3ae8120255p-9,
        -0x1.7da1d758d8d7bp-10, 0x1.354b3707383a9p-11,  -0x1.f4dde5fd478cep-13,
        0x1.93990079e4486p-14,  -0x1.3f4564e6926cbp-15, 0x1.df0698c6f8c10p-17,
        -0x1.3f21a5045a861p-18, 0x1.54f63c7a50588p-20,  -0x1.f3c0efff3dce1p-23,
        0x1.6d6c9ae253842p-26,
    };
};

/// c[0] + c[1] x + c[2] x^2 + ...
template <class Vector, class Scalar, unsigned long Count>
PACELINE_INLINE Vector polynomial(const Vector& x, const Scalar (&c)[Count]) {
    Vector sum = broadcast<Vector>(c[Count - 1]);
    for (unsigned long i = Count - 1; i-- > 0;) sum = fused(sum, x, broadcast<Vector>(c[i]));
    return sum;
}

template <class Scalar>
PACELINE_INLINE Lanes<Scalar> exp_of(Lanes<Scalar> x) {
    using C = Coefficients<Scalar>;
    using F = Format<Scalar>;
    using V = Lanes<Scalar>;
    using U = Lanes<Bits<Scalar>>;
    const V least = broadcast<V>(C::least);
    const V greatest = broadcast<V>(C::greatest);
    x = x < least ? least : x;
    x = x > greatest ? greatest : x;
    // Adding 1.5 2^digits rounds to an integer, which the low bits of the sum then hold.
    const V magic = broadcast<V>(static_cast<Scalar>(Bits<Scalar>{3} << (F::digits - 1)));
    const V rounded = fused(x, broadcast<V>(C::log2_e), magic);
    const V n = rounded - magic;
    const V r = fused(n, broadcast<V>(-C::ln_2_low), fused(n, broadcast<V>(-C::ln_2_high), x));
    const V p = fused(r * r, polynomial(r, C::exp_p), r) + broadcast<V>(Scalar{1});

    // n + 2 bias > 0 is halved as an unsigned number.
    const U twice_bias = broadcast<U>(2 * F::exponent_bias);
    const U biased = same_bits<U>(rounded) - same_bits<U>(magic) + twice_bias;
    const U half = biased >> 1;
    return p * same_bits<V>(half << F::digits) * same_bits<V>((biased - half) << F::digits);
}

template <class Scalar>
PACELINE_INLINE Lanes<Scalar> tanh_of(const Lanes<Scalar>& x) {
    using V = Lanes<Scalar>;
    using U = Lanes<Bits<Scalar>>;
    const U sign_bit = broadcast<U>(Bits<Scalar>{1} << (8 * sizeof(Scalar) - 1));
    const U sign = same_bits<U>(x) & sign_bit;
    const V magnitude = same_bits<V>(same_bits<U>(x) & ~sign_bit);
    const V one = broadcast<V>(Scalar{1});
    const V square = magnitude * magnitude;
    const V near_zero =
        fused(magnitude * square, polynomial(square, Coefficients<Scalar>::tanh_q), magnitude);
    const V far = one - broadcast<V>(Scalar{2}) / (exp_of<Scalar>(magnitude + magnitude) + one);
    const V result = magnitude < one ? near_zero : far;
    return same_bits<V>(same_bits<U>(result) | sign);
}

template <class Scalar>
PACELINE_INLINE Lanes<Scalar> logistic_of(const Lanes<Scalar>& x) {
    const Lanes<Scalar> one = broadcast<Lanes<Scalar>>(Scalar{1});
    return one / (one + exp_of<Scalar>(-x));
}

/// Applies f to n numbers; the last lanes may be padding.
template <class Scalar, class Function>
PACELINE_INLINE void for_each_number(Index n, const Scalar* x, Scalar* out, Function f) {
    Index k = 0;
    for (; k + panel_lanes <= n; k += panel_lanes) store(out + k, f(load<Lanes<Scalar>>(x + k)));
    if (k == n) return;
    Scalar rest[panel_lanes] = {};
    __builtin_memcpy(rest, x + k, static_cast<unsigned long>(n - k) * sizeof(Scalar));
    store(rest, f(load<Lanes<Scalar>>(rest)));
    __builtin_memcpy(out + k, rest, static_cast<unsigned long>(n - k) * sizeof(Scalar));
}

template <class Scalar>
void exp(Index n, const Scalar* x, Scalar* out) {
    for_each_number(
        n, x, out, [](const Lanes<Scalar>& v) PACELINE_ALWAYS_INLINE { return exp_of<Scalar>(v); });
}

template <class Scalar>
void tanh(Index n, const Scalar* x, Scalar* out) {
    for_each_number(n, x, out, [](const Lanes<Scalar>& v) PACELINE_ALWAYS_INLINE {
        return tanh_of<Scalar>(v);
    });
}

template <class Scalar>
void logistic(Index n, const Scalar* x, Scalar* out) {
    for_each_number(n, x, out, [](const Lanes<Scalar>& v) PACELINE_ALWAYS_INLINE {
        return logistic_of<Scalar>(v);
    });
}

// (1 + tanh u)/2 = logistic(2 u), which loses no digits where x is far below 0.
template <class Scalar>
constexpr Scalar gelu_slope = static_cast<Scalar>(2 * 0.797884560802865355879892119868763737);
template <class Scalar>
constexpr Scalar gelu_cubic = static_cast<Scalar>(0.044715);

template <class Scalar>
void gelu_forward(Index n, const Scalar* x, Scalar* share, Scalar* out) {
    using V = Lanes<Scalar>;
    for_each_number(n, x, share, [](const V& v) PACELINE_ALWAYS_INLINE {
        const V bent = fused(v * v, broadcast<V>(gelu_cubic<Scalar>), broadcast<V>(Scalar{1})) * v;
        return logistic_of<Scalar>(broadcast<V>(gelu_slope<Scalar>) * bent);
    });
    for (Index k = 0; k < n; ++k) out[k] = x[k] * share[k];
}

// d/dx (x s) = s + x s (1 - s) 2u',  2u' = slope (1 + 3 cubic x^2)
template <class Scalar>
void gelu_backward(Index n, const Scalar* x, const Scalar* share, Scalar* d) {
    for (Index k = 0; k < n; ++k) {
        const Scalar s = share[k];
        const Scalar bend = Scalar{1} + 3 * gelu_cubic<Scalar> * (x[k] * x[k]);
        const Scalar steep = x[k] * (s * (Scalar{1} - s)) * (gelu_slope<Scalar> * bend);
        d[k] *= s + steep;
    }
}

}  // namespace

}  // namespace paceline
