// Elementary functions that are bit-identical on every machine, processor and compiler.
//
// The C library picks its implementations at program start, depending on the processor. They differ
// in the last bits, as do those of two C libraries. The functions here use only + - * /, table
// look-ups and correctly rounded multiply-adds (sim/numeric/fused.hpp), each of which IEEE 754
// defines to the bit; no sqrt. They need round-to-nearest, and must not be compiled with
// -ffast-math or with contraction of a * b + c.
//
// Each function reduces its argument with a table, sums a short Taylor series, and carries the
// leading terms as an exact sum of two doubles (sim/numeric/pair.hpp), so that only the last
// addition rounds noticeably. The compiler computes the tables from Taylor series in the same
// arithmetic.
//
//   exp, expm1   x = (128 k + j) ln(2) / 128 + r,    e^x = 2^k 2^(j/128) e^r,     |r| <= 0.0028
//   log and kin  x = 2^k z,  q = round(128 / z),     log x = k ln(2) - log(q/128) + log1p(r),
//                                                    r = z q / 128 - 1 exactly,   |r| <= 0.0056
//   pow          e^(y log x), with log x to a relative error of about 2^-68
//   tanh         E / (E + 2), E = expm1(2 x)
//   sin, cos     x = n pi/2 + j/64 + d, the addition theorems,                    |d| <= 1/128
//   erf          2 / sqrt(pi) e^(-x^2) (x + 2 x^3 / 3 + 4 x^5 / 15 + ..), of terms of one sign
//
// Table-driven reduction: Tang, ACM Trans. Math. Softw. 15 (1989) and 16 (1990).
//
// Errors, measured against MPFR: at most 0.51 units in the last place (erf below 1e-290: 0.6). A
// result that a double holds exactly (pow(3, 2), log2(8), exp(0)) is therefore exact. Special cases
// follow ISO C, Annex F, with two differences: every returned NaN is the same one, and no flag or
// errno is set on purpose. sin, cos and tan require |x| <= 2^20, but return NaN for an infinity or
// a NaN.
#pragma once

namespace paceline::elementary {

double exp(double x);
double expm1(double x);
double log(double x);
double log1p(double x);
double log2(double x);
double log10(double x);
double pow(double x, double y);
double tanh(double x);
double sin(double x);
double cos(double x);
double tan(double x);
double erf(double x);

}  // namespace paceline::elementary
