// Numbers and vectors: what every kernel is written with.
//
// `Lanes` is the 32 numbers of a panel's feature, whatever the processor: the compiler makes two,
// four or eight registers of it. `Register` is as wide as the processor's own, for the tiles of
// products.
#pragma once

#include "models/kernels/kernels.hpp"

namespace paceline {

namespace {

#if defined(__AVX512F__)
constexpr Index register_bytes = 64;
constexpr Index registers = 32;
#elif defined(__AVX__)
constexpr Index register_bytes = 32;
constexpr Index registers = 16;
#else
constexpr Index register_bytes = 16;
constexpr Index registers = 32;  // AArch64; compilers spill where there are fewer
#endif

#define PACELINE_ALWAYS_INLINE __attribute__((always_inline))
#define PACELINE_INLINE PACELINE_ALWAYS_INLINE inline

template <class Scalar>
struct Format;

template <>
struct Format<float> {
    using Bits = unsigned int;
    static constexpr int digits = 23;  // of the fraction
    static constexpr Bits exponent_bias = 127;
};

template <>
struct Format<double> {
    using Bits = unsigned long long;
    static constexpr int digits = 52;
    static constexpr Bits exponent_bias = 1023;
};

template <class Scalar>
using Bits = typename Format<Scalar>::Bits;

template <class Number>
struct VectorsOf {
    typedef Number Lanes __attribute__((vector_size(panel_lanes * sizeof(Number))));
    typedef Number Register __attribute__((vector_size(register_bytes)));
};

template <class Scalar>
using Lanes = typename VectorsOf<Scalar>::Lanes;
template <class Scalar>
using Register = typename VectorsOf<Scalar>::Register;
template <class Scalar>
constexpr Index register_size = register_bytes / static_cast<Index>(sizeof(Scalar));

template <class Vector, class Scalar>
PACELINE_INLINE Vector load(const Scalar* from) {
    Vector v;
    __builtin_memcpy(&v, from, sizeof v);
    return v;
}

template <class Vector, class Scalar>
PACELINE_INLINE void store(Scalar* to, const Vector& v) {
    __builtin_memcpy(to, &v, sizeof v);
}

template <class Vector, class Scalar>
PACELINE_INLINE Vector broadcast(Scalar x) {
    Vector v;
    for (unsigned i = 0; i < sizeof v / sizeof x; ++i) v[i] = x;
    return v;
}

template <class To, class From>
PACELINE_INLINE To same_bits(const From& from) {
    static_assert(sizeof(To) == sizeof(From));
    To to;
    __builtin_memcpy(&to, &from, sizeof to);
    return to;
}

PACELINE_INLINE float fused_number(float a, float b, float c) {
    return __builtin_fmaf(a, b, c);
}
PACELINE_INLINE double fused_number(double a, double b, double c) {
    return __builtin_fma(a, b, c);
}
PACELINE_INLINE float square_root_of_number(float x) {
    return __builtin_sqrtf(x);
}
PACELINE_INLINE double square_root_of_number(double x) {
    return __builtin_sqrt(x);
}

#if defined(__wasm_relaxed_simd__)
// relaxed_madd is rounded once or twice, as the browser's processor likes it best, and always the
// same way. The page takes this engine where it is rounded once (explorer/page/fused.ts).
PACELINE_INLINE Register<float> fused_register(const Register<float>& a, const Register<float>& b,
                                               const Register<float>& c) {
    return __builtin_wasm_relaxed_madd_f32x4(a, b, c);
}
PACELINE_INLINE Register<double> fused_register(const Register<double>& a,
                                                const Register<double>& b,
                                                const Register<double>& c) {
    return __builtin_wasm_relaxed_madd_f64x2(a, b, c);
}

template <class Register, class Vector>
PACELINE_INLINE Vector fused_by_registers(const Vector& a, const Vector& b, const Vector& c) {
    constexpr unsigned count = sizeof(Vector) / sizeof(Register);
    Register factor[count];
    Register other[count];
    Register sum[count];
    __builtin_memcpy(factor, &a, sizeof a);
    __builtin_memcpy(other, &b, sizeof b);
    __builtin_memcpy(sum, &c, sizeof c);
    for (unsigned i = 0; i < count; ++i) sum[i] = fused_register(factor[i], other[i], sum[i]);
    Vector all;
    __builtin_memcpy(&all, sum, sizeof all);
    return all;
}
#elif defined(__wasm__)
// WebAssembly has no fused multiply-add. For floats, the product is exact in double. If the sum is
// not, it is rounded to odd: a neighbor with an odd last bit stands for all that lies between two
// doubles. Rounding that to float is the same as rounding once, because a double has more than two
// digits more than a float (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums",
// IEEE Trans. Computers 57, 2008).
template <class Floats>
PACELINE_INLINE Floats fused_floats(const Floats& a, const Floats& b, const Floats& c) {
    typedef double Doubles __attribute__((vector_size(2 * sizeof(Floats))));
    typedef long long Integers __attribute__((vector_size(2 * sizeof(Floats))));
    const Doubles product =
        __builtin_convertvector(a, Doubles) * __builtin_convertvector(b, Doubles);
    const Doubles addend = __builtin_convertvector(c, Doubles);
    const Doubles sum = product + addend;
    const Doubles part = sum - product;
    const Doubles error = (product - (sum - part)) + (addend - part);  // exactly (Knuth)
    const Integers bits = same_bits<Integers>(sum);
    const Integers inexact = (error < 0.0) | (error > 0.0);  // false where the sum is not finite
    const Integers even = (bits & 1) - 1;
    const Integers toward_zero = (error < 0.0) ^ (bits < 0);
    const Integers odd = bits + (((toward_zero << 1) | 1) & inexact & even);
    return __builtin_convertvector(same_bits<Doubles>(odd), Floats);
}
#endif

/// a b + c, rounded once.
template <class Vector>
PACELINE_INLINE Vector fused(const Vector& a, const Vector& b, const Vector& c) {
#if defined(__wasm_relaxed_simd__)
    if constexpr (sizeof a[0] == sizeof(float))
        return fused_by_registers<Register<float>>(a, b, c);
    else
        return fused_by_registers<Register<double>>(a, b, c);
#elif defined(__wasm__)
    if constexpr (sizeof a[0] == sizeof(float)) return fused_floats(a, b, c);
#endif
#if __has_builtin(__builtin_elementwise_fma)
    return __builtin_elementwise_fma(a, b, c);
#else
    Vector sum;
    for (unsigned i = 0; i < sizeof sum / sizeof sum[0]; ++i)
        sum[i] = fused_number(a[i], b[i], c[i]);
    return sum;
#endif
}

template <class Vector>
PACELINE_INLINE Vector square_root(const Vector& x) {
#if __has_builtin(__builtin_elementwise_sqrt)
    return __builtin_elementwise_sqrt(x);
#else
    Vector root;
    for (unsigned i = 0; i < sizeof root / sizeof root[0]; ++i)
        root[i] = square_root_of_number(x[i]);
    return root;
#endif
}

/// Lane i takes up lane i + 16, then i + 8, ...: the one order in which lanes are summed.
template <class Scalar, Index Size>
PACELINE_INLINE Scalar folded(const Scalar* lanes) {
    Scalar part[Size];
    __builtin_memcpy(part, lanes, sizeof part);
    for (Index half = Size / 2; half > 0; half /= 2)
        for (Index i = 0; i < half; ++i) part[i] += part[i + half];
    return part[0];
}

template <class Scalar>
PACELINE_INLINE Scalar folded(const Lanes<Scalar>& v) {
    Scalar lanes[panel_lanes];
    store(lanes, v);
    return folded<Scalar, panel_lanes>(lanes);
}

}  // namespace

}  // namespace paceline
