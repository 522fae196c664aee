// The modular lattice quantizer: a coordinate's place on a lattice, modulo q.
//
//   encode x        c  =  round(x / eps) mod q                    log2(q) bits per coordinate
//   decode c at y   c eps + q eps round((y - c eps) / (q eps))  the point with this c nearest to y
//
//   symbol   here       meaning
//   eps      step       distance between lattice points, in units of the model
//   q        2^bits     points that have codes of their own
//   y        reference  what the receiver has; the nearer to x, the better
//
// No norm and no scale travel: the error depends on how far x and y are apart, not on how large
// they are. Decoding yields the lattice point nearest to x, at most eps/2 away, if
// |x - y| < (q - 1) eps / 2. Otherwise it fails without a sign, off by a multiple of q eps.
// Rounding is to nearest, as in the released code, hence biased within eps/2; the paper's random
// shift is left out.
//
// Source: Davies, Gurunathan, Moshrefi, Ashkboos, Alistarh, ICLR 2021 (idea, of its abstract);
// released code of SwarmSGD ("SimpleLatticeEncoder": q = 65536, eps = 0.0035 / n).
#pragma once

#include <cstdint>

#include <Eigen/Core>

#include "sim/engine/units.hpp"

namespace paceline {

struct Lattice {
    int bits = 16;         // in [1, 32]
    double step = 0.0035;  // eps, above 0
};

/// What the codes of so many coordinates weigh: whole bytes.
[[nodiscard]] Bytes weigh_codes(const Lattice& lattice, std::int64_t entries);

/// The lattice point nearest to x: what is sent, if it is decoded rightly.
[[nodiscard]] Eigen::VectorXd round_to(const Lattice& lattice, const Eigen::VectorXd& x);

/// Whole numbers in [0, q).
[[nodiscard]] Eigen::VectorXd encode(const Lattice& lattice, const Eigen::VectorXd& x);
[[nodiscard]] Eigen::VectorXd decode(const Lattice& lattice, const Eigen::VectorXd& codes,
                                     const Eigen::VectorXd& reference);

/// Coordinates that were decoded to another lattice point than what was sent.
[[nodiscard]] std::int64_t decode_failures(const Lattice& lattice, const Eigen::VectorXd& sent,
                                           const Eigen::VectorXd& decoded);

}  // namespace paceline
