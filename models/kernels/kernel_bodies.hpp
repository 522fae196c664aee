// The kernels themselves (kernels.hpp says what each does). A translation unit per instruction set includes this
// file and makes its tables with make_kernels(). Everything here has internal linkage.
//
// Two vector types do the work. `Lanes` is the 32 numbers of a panel's feature, whatever the processor: the
// compiler makes two, four or eight registers of it. `Register` is as wide as the processor's own, for the tiles
// of products, whose shape must fit the register file; their shape cannot change a bit, as entries do not mix.
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

// ---- Numbers and vectors -------------------------------------------------------------------------------------

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

#if defined(__wasm__)
// WebAssembly has no fused multiply-add. For floats, the product is exact in double. If the sum is not, it is rounded
// to odd: a neighbor with an odd last bit stands for all that lies between two doubles. Rounding that to float is the
// same as rounding once, because a double has more than two digits more than a float (Boldo and Melquiond, "Emulation
// of FMA and correctly rounded sums", IEEE Trans. Computers 57, 2008).
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
#if defined(__wasm__)
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

// ---- Elementary functions ------------------------------------------------------------------------------------
//
// exp: x = n ln 2 + r with |r| <= ln 2 / 2 and ln 2 in two parts, exp(r) = 1 + (r + r^2 P(r)); 2^n is multiplied
// in two halves, so that results overflow and become subnormal as they should.
// tanh: x + x^3 Q(x^2) where |x| < 1, else 1 - 2/(exp(2 |x|) + 1) with the sign of x.
// P and Q are minimax polynomials (Remez, in 60 digits): their relative errors are below 2^-28 and 2^-31 of the
// result for floats, 2^-64 and 2^-59 for doubles.

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

// ---- Products -------------------------------------------------------------------------------------------------

// Sums, a register of B for each column of them and a broadcast fit the register file.
constexpr Index columns_of_registers = 2;
constexpr Index tallest = registers >= 32 ? 12 : 6;
template <class Scalar>
constexpr Index tile_width = columns_of_registers * register_size<Scalar>;

struct LinearRows {
    Index distance;
    PACELINE_INLINE Index operator()(Index k) const { return k * distance; }
};

struct GatheredRows {
    const Index* rows;
    PACELINE_INLINE Index operator()(Index k) const { return rows[k]; }
};

/// A tile of C, `Height` rows by two registers.
template <class Scalar, Index Height, class Rows>
void tile(Index depth, const Strided<Scalar>& a, const Scalar* b, Rows b_row, Scalar* c,
          Index c_row, const ProductEnds<Scalar>& ends) {
    using R = Register<Scalar>;
    constexpr Index size = register_size<Scalar>;
    R sums[Height][columns_of_registers];
    for (Index i = 0; i < Height; ++i)
        for (Index v = 0; v < columns_of_registers; ++v) {
            if (ends.start == Start::sum)
                sums[i][v] = load<R>(c + i * c_row + v * size);
            else
                sums[i][v] = broadcast<R>(ends.start == Start::bias ? ends.bias[i] : Scalar{0});
        }
    for (Index k = 0; k < depth; ++k) {
        const Scalar* row = b + b_row(k);
        const Scalar* column = a.data + k * a.column;
        R loaded[columns_of_registers];
        for (Index v = 0; v < columns_of_registers; ++v) loaded[v] = load<R>(row + v * size);
        for (Index i = 0; i < Height; ++i) {
            const R factor = broadcast<R>(column[i * a.row]);
            for (Index v = 0; v < columns_of_registers; ++v)
                sums[i][v] = fused(factor, loaded[v], sums[i][v]);
        }
    }
    if (ends.finish == Finish::relu)
        for (Index i = 0; i < Height; ++i)
            for (Index v = 0; v < columns_of_registers; ++v)
                sums[i][v] = sums[i][v] < R{} ? R{} : sums[i][v];
    for (Index i = 0; i < Height; ++i)
        for (Index v = 0; v < columns_of_registers; ++v)
            store(c + i * c_row + v * size, sums[i][v]);
}

/// The tiles of every height: at[h - 1] has h rows.
template <class Scalar, class Rows>
struct Tiles {
    using Tile = void (*)(Index, const Strided<Scalar>&, const Scalar*, Rows, Scalar*, Index,
                          const ProductEnds<Scalar>&);
    Tile at[tallest];

    constexpr Tiles() : at{} { fill<tallest>(); }

    template <Index Height>
    constexpr void fill() {
        at[Height - 1] = &tile<Scalar, Height, Rows>;
        if constexpr (Height > 1) fill<Height - 1>();
    }
};

// Rows are split evenly: 16 are 8 + 8, not 12 + 4.
template <class Scalar, class Rows>
void multiply_strip(Index rows, Index depth, Strided<Scalar> a, const Scalar* b, Rows b_row,
                    Scalar* c, Index c_row, ProductEnds<Scalar> ends) {
    static constexpr Tiles<Scalar, Rows> tiles;
    Index left = (rows + tallest - 1) / tallest;
    for (Index i = 0; i < rows; --left) {
        const Index height = (rows - i + left - 1) / left;
        tiles.at[height - 1](depth, a, b, b_row, c, c_row, ends);
        a.data += height * a.row;
        c += height * c_row;
        if (ends.bias != nullptr) ends.bias += height;
        i += height;
    }
}

template <class Scalar>
PACELINE_INLINE void copy(const Scalar* from, Index count, Scalar* to) {
    __builtin_memcpy(to, from, static_cast<unsigned long>(count) * sizeof(Scalar));
}

// Columns left over, fewer than a tile is wide: both B and C pass through tiles with zeros beside.
template <class Scalar>
void multiply_rest(Index rows, Index columns, Index depth, Strided<Scalar> a, const Scalar* b,
                   Index b_row, Scalar* c, Index c_row, ProductEnds<Scalar> ends) {
    constexpr Index width = tile_width<Scalar>;
    constexpr Index deepest = 64;
    Scalar b_tile[deepest * width] = {};
    Scalar c_tile[tallest * width] = {};
    for (Index k = 0; k == 0 || k < depth; k += deepest) {
        const Index part = depth - k < deepest ? depth - k : deepest;
        for (Index row = 0; row < part; ++row)
            copy(b + (k + row) * b_row, columns, b_tile + row * width);
        ProductEnds<Scalar> part_ends = ends;
        if (k > 0) part_ends.start = Start::sum;
        if (k + part < depth) part_ends.finish = Finish::plain;
        for (Index i = 0; i < rows; i += tallest) {
            const Index height = rows - i < tallest ? rows - i : tallest;
            for (Index row = 0; row < height; ++row)
                copy(c + (i + row) * c_row, columns, c_tile + row * width);
            multiply_strip(height, part,
                           Strided<Scalar>{a.data + i * a.row + k * a.column, a.row, a.column},
                           b_tile, LinearRows{width}, c_tile, width, part_ends);
            for (Index row = 0; row < height; ++row)
                copy(c_tile + row * width, columns, c + (i + row) * c_row);
            if (part_ends.bias != nullptr) part_ends.bias += height;
        }
    }
}

// A strip of C, as wide as a tile, in parts of `deepest` products: 16 KiB of B, which stay in the nearest cache while
// the rows of A pass. What is stored between two parts is loaded again to the bit.
template <class Scalar>
void multiply_deep_strip(Index rows, Index depth, Strided<Scalar> a, const Scalar* b, Index b_row,
                         Scalar* c, Index c_row, ProductEnds<Scalar> ends) {
    constexpr Index deepest = 16384 / (tile_width<Scalar> * static_cast<Index>(sizeof(Scalar)));
    const Finish finish = ends.finish;
    for (Index k = 0; k == 0 || k < depth; k += deepest) {
        const Index part = depth - k < deepest ? depth - k : deepest;
        ends.finish = k + part < depth ? Finish::plain : finish;
        multiply_strip(rows, part, Strided<Scalar>{a.data + k * a.column, a.row, a.column},
                       b + k * b_row, LinearRows{b_row}, c, c_row, ends);
        ends.start = Start::sum;
    }
}

template <class Scalar>
void multiply(Index rows, Index columns, Index depth, Strided<Scalar> a, const Scalar* b,
              Index b_row, Scalar* c, Index c_row, ProductEnds<Scalar> ends) {
    constexpr Index width = tile_width<Scalar>;
    Index j = 0;
    for (; j + width <= columns; j += width)
        multiply_deep_strip(rows, depth, a, b + j, b_row, c + j, c_row, ends);
    if (j < columns) multiply_rest(rows, columns - j, depth, a, b + j, b_row, c + j, c_row, ends);
}

template <class Scalar>
void multiply_gathered(Index rows, Index depth, Strided<Scalar> a, const Scalar* b,
                       const Index* b_rows, Scalar* c, Index c_row, ProductEnds<Scalar> ends) {
    for (Index j = 0; j < panel_lanes; j += tile_width<Scalar>)
        multiply_strip(rows, depth, a, b + j, GatheredRows{b_rows}, c + j, c_row, ends);
}

// ---- Correlations ---------------------------------------------------------------------------------------------

// Sums lie in 16 lanes: pixel by pixel, lanes 0 to 15 of the panel and then 16 to 31 are added to them. A pass has
// as many of the 16 as a register holds. Two rows of D against nine taps are 18 sums, which takes 32 registers.
constexpr Index correlation_lanes = 16;
constexpr Index correlated_rows = registers >= 32 && register_bytes >= 64 ? 2 : 1;
constexpr Index taps = 9;

template <class Scalar, Index Height>
void correlate_rows(const Scalar* d, Index d_row, const ErrorGrid& grid, const Scalar* x,
                    const InputGrid& seen, Scalar* g, Index g_row) {
    using R = Register<Scalar>;
    constexpr Index size = register_size<Scalar>;
    static_assert(correlation_lanes % size == 0);
    Scalar lanes[Height][taps][correlation_lanes];
    for (Index pass = 0; pass < correlation_lanes; pass += size) {
        R sums[Height][taps] = {};
        for (Index y = 0; y < grid.height; ++y)
            for (Index pixel = 0; pixel < grid.width; ++pixel)
                for (Index lane = pass; lane < panel_lanes; lane += correlation_lanes) {
                    const Scalar* here = d + y * grid.row + pixel * panel_lanes + lane;
                    const Scalar* there = x + y * seen.row + pixel * seen.pixel + lane;
                    R error[Height];
                    for (Index i = 0; i < Height; ++i) error[i] = load<R>(here + i * d_row);
                    for (Index tap = 0; tap < taps; ++tap) {
                        const R input =
                            load<R>(there + (tap / 3) * seen.tap_row + (tap % 3) * panel_lanes);
                        for (Index i = 0; i < Height; ++i)
                            sums[i][tap] = fused(error[i], input, sums[i][tap]);
                    }
                }
        for (Index i = 0; i < Height; ++i)
            for (Index tap = 0; tap < taps; ++tap) store(&lanes[i][tap][pass], sums[i][tap]);
    }
    for (Index i = 0; i < Height; ++i)
        for (Index tap = 0; tap < taps; ++tap)
            g[i * g_row + tap] += folded<Scalar, correlation_lanes>(lanes[i][tap]);
}

template <class Scalar>
void correlate_3x3(Index rows, const Scalar* d, Index d_row, const ErrorGrid& grid, const Scalar* x,
                   const InputGrid& seen, Scalar* g, Index g_row) {
    Index i = 0;
    for (; i + correlated_rows <= rows; i += correlated_rows)
        correlate_rows<Scalar, correlated_rows>(d + i * d_row, d_row, grid, x, seen, g + i * g_row,
                                                g_row);
    for (; i < rows; ++i)
        correlate_rows<Scalar, 1>(d + i * d_row, d_row, grid, x, seen, g + i * g_row, g_row);
}

// ---- Sums -----------------------------------------------------------------------------------------------------

template <class Scalar>
PACELINE_INLINE Lanes<Scalar> converted(const Lanes<float>& v) {
    return __builtin_convertvector(v, Lanes<Scalar>);
}

template <class Scalar>
Scalar dot_product(Index n, const float* a, const Scalar* b) {
    using V = Lanes<Scalar>;
    V sum = {};
    Index k = 0;
    for (; k + panel_lanes <= n; k += panel_lanes)
        sum = fused(converted<Scalar>(load<Lanes<float>>(a + k)), load<V>(b + k), sum);
    if (k < n) {
        float a_rest[panel_lanes] = {};
        Scalar b_rest[panel_lanes] = {};
        copy(a + k, n - k, a_rest);
        copy(b + k, n - k, b_rest);
        sum = fused(converted<Scalar>(load<Lanes<float>>(a_rest)), load<V>(b_rest), sum);
    }
    return folded<Scalar>(sum);
}

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

// ---- Softmax --------------------------------------------------------------------------------------------------

template <class Scalar>
PACELINE_INLINE Lanes<Scalar> largest(const Scalar* logits, Index classes, Index row) {
    using V = Lanes<Scalar>;
    V most = load<V>(logits);
    for (Index c = 1; c < classes; ++c) {
        const V z = load<V>(logits + c * row);
        most = z > most ? z : most;
    }
    return most;
}

template <class Scalar>
void softmax_exponentials(Scalar* logits, Index classes, Index row, Scalar* max, Scalar* sum) {
    using V = Lanes<Scalar>;
    const V most = largest(logits, classes, row);
    V all = {};
    for (Index c = 0; c < classes; ++c) {
        const V e = exp_of<Scalar>(load<V>(logits + c * row) - most);
        store(logits + c * row, e);
        all += e;
    }
    store(max, most);
    store(sum, all);
}

template <class Scalar>
void softmax_sums(const Scalar* logits, Index classes, Index row, Scalar* max, Scalar* sum) {
    using V = Lanes<Scalar>;
    const V most = largest(logits, classes, row);
    V all = {};
    for (Index c = 0; c < classes; ++c) all += exp_of<Scalar>(load<V>(logits + c * row) - most);
    store(max, most);
    store(sum, all);
}

template <class Scalar>
void scale_classes(Scalar* logits, Index classes, Index row, const Scalar* factor) {
    using V = Lanes<Scalar>;
    const V by = load<V>(factor);
    for (Index c = 0; c < classes; ++c) store(logits + c * row, load<V>(logits + c * row) * by);
}

// ---- LSTM -----------------------------------------------------------------------------------------------------

template <class Scalar>
void lstm_forward(const LstmStep<Scalar>& step) {
    using V = Lanes<Scalar>;
    for (Index unit = 0; unit < step.units; ++unit) {
        Scalar* gate = step.gates + unit * step.gate_row;
        const Index next = step.units * step.gate_row;
        const V i = logistic_of<Scalar>(load<V>(gate));
        const V f = logistic_of<Scalar>(load<V>(gate + next));
        const V g = tanh_of<Scalar>(load<V>(gate + 2 * next));
        const V o = logistic_of<Scalar>(load<V>(gate + 3 * next));
        store(gate, i);
        store(gate + next, f);
        store(gate + 2 * next, g);
        store(gate + 3 * next, o);
        const Index at = unit * panel_lanes;
        V c = i * g;
        if (step.c_before != nullptr) c = fused(f, load<V>(step.c_before + at), c);
        const V t = tanh_of<Scalar>(c);
        store(step.c + at, c);
        store(step.tanh_c + at, t);
        store(step.h + at, o * t);
    }
}

template <class Scalar>
void lstm_backward(const LstmStep<Scalar>& step, const LstmErrors<Scalar>& errors) {
    using V = Lanes<Scalar>;
    const V one = broadcast<V>(Scalar{1});
    for (Index unit = 0; unit < step.units; ++unit) {
        Scalar* gate = step.gates + unit * step.gate_row;
        const Index next = step.units * step.gate_row;
        const Index at = unit * panel_lanes;
        const V i = load<V>(gate);
        const V f = load<V>(gate + next);
        const V g = load<V>(gate + 2 * next);
        const V o = load<V>(gate + 3 * next);
        const V d_h = load<V>(errors.d_h + at) + load<V>(errors.d_h_recurrent + at);
        const V t = load<V>(step.tanh_c + at);
        const V d_c = load<V>(errors.d_c + at) + d_h * o * (one - t * t);
        store(errors.d_c + at, d_c * f);
        V d_f = {};
        if (step.c_before != nullptr) d_f = d_c * load<V>(step.c_before + at) * f * (one - f);
        store(gate, d_c * g * i * (one - i));
        store(gate + next, d_f);
        store(gate + 2 * next, d_c * i * (one - g * g));
        store(gate + 3 * next, d_h * t * o * (one - o));
    }
}

// ---- Group normalization --------------------------------------------------------------------------------------

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

// ---- Transformers ---------------------------------------------------------------------------------------------

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

template <class Scalar>
PACELINE_INLINE Lanes<Scalar> lane_numbers() {
    Lanes<Scalar> numbers;
    for (unsigned lane = 0; lane < panel_lanes; ++lane) numbers[lane] = static_cast<Scalar>(lane);
    return numbers;
}

template <class Scalar>
void causal_softmax(Scalar* scores, Index keys, Index first, Scalar scale) {
    using V = Lanes<Scalar>;
    const V lane = lane_numbers<Scalar>();
    const V never = broadcast<V>(-static_cast<Scalar>(__builtin_inf()));
    V most = never;
    for (Index key = 0; key < keys; ++key) {
        V z = broadcast<V>(scale) * load<V>(scores + key * panel_lanes);
        z = lane < broadcast<V>(static_cast<Scalar>(key - first)) ? never : z;
        store(scores + key * panel_lanes, z);
        most = z > most ? z : most;
    }
    V sum = {};
    for (Index key = 0; key < keys; ++key) {
        const V e = exp_of<Scalar>(load<V>(scores + key * panel_lanes) - most);
        store(scores + key * panel_lanes, e);
        sum += e;
    }
    const V factor = broadcast<V>(Scalar{1}) / sum;
    for (Index key = 0; key < keys; ++key)
        store(scores + key * panel_lanes, load<V>(scores + key * panel_lanes) * factor);
}

template <class Scalar>
void causal_softmax_backward(const Scalar* p, Index keys, Scalar scale, Scalar* d) {
    using V = Lanes<Scalar>;
    V mean = {};
    for (Index at = 0; at < keys * panel_lanes; at += panel_lanes)
        mean = fused(load<V>(p + at), load<V>(d + at), mean);
    for (Index at = 0; at < keys * panel_lanes; at += panel_lanes)
        store(d + at, broadcast<V>(scale) * load<V>(p + at) * (load<V>(d + at) - mean));
}

// ---- The table ------------------------------------------------------------------------------------------------

template <class Scalar>
constexpr Kernels<Scalar> make_kernels() {
    return {
        .multiply = &multiply<Scalar>,
        .multiply_gathered = &multiply_gathered<Scalar>,
        .correlate_3x3 = &correlate_3x3<Scalar>,
        .dot_product = &dot_product<Scalar>,
        .exp = &exp<Scalar>,
        .tanh = &tanh<Scalar>,
        .logistic = &logistic<Scalar>,
        .masked_sum = &masked_sum<Scalar>,
        .softmax_exponentials = &softmax_exponentials<Scalar>,
        .softmax_sums = &softmax_sums<Scalar>,
        .scale_classes = &scale_classes<Scalar>,
        .lstm_forward = &lstm_forward<Scalar>,
        .lstm_backward = &lstm_backward<Scalar>,
        .add_pixels = &add_pixels<Scalar>,
        .add_squares = &add_squares<Scalar>,
        .inverse_deviation = &inverse_deviation<Scalar>,
        .norm_forward = &norm_forward<Scalar>,
        .norm_parameters = &norm_parameters<Scalar>,
        .norm_input = &norm_input<Scalar>,
        .layer_norm_forward = &layer_norm_forward<Scalar>,
        .layer_norm_backward = &layer_norm_backward<Scalar>,
        .gelu_forward = &gelu_forward<Scalar>,
        .gelu_backward = &gelu_backward<Scalar>,
        .causal_softmax = &causal_softmax<Scalar>,
        .causal_softmax_backward = &causal_softmax_backward<Scalar>,
    };
}

}  // namespace

}  // namespace paceline
