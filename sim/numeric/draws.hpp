// Random draws that are bit-identical on every machine, for laws that need exp, log, pow or tan.
//
// The algorithms are those of Boost.Random 1.74: ziggurats of 128 and 256 layers for the normal and
// the exponential law (Marsaglia, Tsang, J. Stat. Softw. 5(8), 2000); for the gamma law, rejection
// from a Cauchy law above shape 1 (Knuth, The Art of Computer Programming 2, 3.4.1) and Ahrens and
// Dieter's GS below. Boost itself calls the C library's functions, whose last bits depend on the
// processor. Here its templates run on a number type that uses the functions of
// sim/numeric/elementary.hpp. A draw differs from Boost's own by at most an ulp.
//
// The uniform_01, uniform_real, uniform_int, bernoulli and discrete distributions need only basic
// arithmetic and are used directly from Boost. tools/check_numerics.py rejects all others.
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
