// One multiplication and one addition with a single rounding.
//
//   fused(a, b, c) = round(a b + c)
//
// IEEE 754 defines the result to the last bit, so it does not depend on whether the processor has
// the instruction. Without the instruction, the C library computes it in about 50 ns. Fused
// operations in paceline are always written this way. The compiler itself forms none
// (-ffp-contract=off), because which ones it forms would depend on the target.
#pragma once

#include <cmath>

namespace paceline {

inline double fused(double a, double b, double c) {
    return std::fma(a, b, c);
}

}  // namespace paceline
