// One multiplication and one addition with a single rounding.
//
//   fused(a, b, c) = round(a b + c)
//
// IEEE 754 defines the result to the last bit, so it is the same with and without a processor that
// has the instruction. Where there is none, the C library computes it in some 50 ns. This is the
// only spelling of a fused operation in paceline: the compiler itself forms none
// (-ffp-contract=off), because which ones it forms would depend on the target.
#pragma once

#include <cmath>

namespace paceline {

inline double fused(double a, double b, double c) {
    return std::fma(a, b, c);
}

}  // namespace paceline
