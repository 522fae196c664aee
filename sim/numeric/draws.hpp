// Random draws whose bits are the same on every machine: laws that need exp, log, pow or tan.
//
// The algorithms are Boost.Random's (1.74): ziggurats of 128 and 256 layers for the normal and the
// exponential law (Marsaglia, Tsang, J. Stat. Softw. 5(8), 2000), rejection from a Cauchy law for
// the gamma law of a shape above 1 (Knuth, The Art of Computer Programming 2, 3.4.1), Ahrens and
// Dieter's GS below. Boost itself calls the C library's functions, whose last bits depend on the
// processor. Here its templates run on a number type whose functions are those of
// sim/numeric/elementary.hpp. A draw differs from Boost's own by an ulp or not at all.
//
// uniform_01, uniform_real, uniform_int, bernoulli and discrete distributions use nothing but basic
// arithmetic and are taken from Boost directly. tools/check_numerics.py refuses the others.
#pragma once

#include "sim/engine/random.hpp"

namespace paceline {

/// Requires deviation >= 0.
double draw_normal(RandomStream& stream, double mean = 0, double deviation = 1);

/// Returns e^d for a normal draw d.
double draw_log_normal(RandomStream& stream, double mean_of_log, double deviation_of_log);

/// Returns a draw whose mean is 1 / rate. Requires rate > 0.
double draw_exponential(RandomStream& stream, double rate = 1);

/// Returns a draw whose mean is the shape. Requires shape > 0.
double draw_gamma(RandomStream& stream, double shape);

}  // namespace paceline
