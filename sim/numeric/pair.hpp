// Numbers of about 106 bits: the exact sum of two doubles.
//
//   two_sum(a, b)      = a + b exactly (Knuth, The Art of Computer Programming 2, 4.2.2, Theorem B)
//   two_product(a, b)  = a b exactly   (Dekker, Numer. Math. 18, 1971; with fused, 2 operations)
//   plus, times, over  relative error a few 2^-104 (Dekker)
//
// The low part is at most half a unit in the last place of the high part, unless a function says
// that it may be larger. Exactness needs products that neither overflow nor go below 2^-1022.
// Everything is constexpr, so that the compiler computes the tables; it rounds as IEEE 754 says.
#pragma once

#include <type_traits>

#include "sim/numeric/fused.hpp"

namespace paceline {

struct Pair {
    double high = 0;
    double low = 0;
};

/// Requires |a| >= |b|, or a = 0.
constexpr Pair ordered_two_sum(double a, double b) {
    const double sum = a + b;
    return {sum, b - (sum - a)};
}

constexpr Pair two_sum(double a, double b) {
    const double sum = a + b;
    const double b_in_sum = sum - a;
    return {sum, (a - (sum - b_in_sum)) + (b - b_in_sum)};
}

/// Returns the 26 leading bits of a number, and the rest.
constexpr Pair split(double a) {
    const double scaled = 0x1p27 * a + a;
    const double high = scaled - (scaled - a);
    return {high, a - high};
}

constexpr Pair two_product(double a, double b) {
    const double product = a * b;
    if (!std::is_constant_evaluated()) return {product, fused(a, b, -product)};
    const Pair x = split(a);
    const Pair y = split(b);
    const double error = ((x.high * y.high - product) + x.high * y.low + x.low * y.high);
    return {product, error + x.low * y.low};
}

constexpr Pair plus(Pair a, Pair b) {
    const Pair high = two_sum(a.high, b.high);
    const Pair low = two_sum(a.low, b.low);
    const Pair sum = ordered_two_sum(high.high, high.low + low.high);
    return ordered_two_sum(sum.high, sum.low + low.low);
}

constexpr Pair times(Pair a, Pair b) {
    const Pair product = two_product(a.high, b.high);
    return ordered_two_sum(product.high, product.low + (a.high * b.low + a.low * b.high));
}

constexpr Pair over(Pair a, Pair b) {
    const double quotient = a.high / b.high;
    const Pair back = two_product(quotient, b.high);
    const double rest = ((a.high - back.high) - back.low) + (a.low - quotient * b.low);
    return ordered_two_sum(quotient, rest / b.high);
}

}  // namespace paceline
