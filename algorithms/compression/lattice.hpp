// The modular lattice quantizer: sends a coordinate's lattice index modulo q.
//
//   encode x        c  =  round(x / eps) mod q                    log2(q) bits per coordinate
//   decode c at y   c eps + q eps round((y - c eps) / (q eps))  the point with this c nearest to y
//
//   symbol   here       meaning
//   eps      step       distance between lattice points, in units of the model
//   q        2^bits     number of distinct codes
//   y        reference  the receiver's value; the nearer to x, the better
//
// It sends no norm and no scale: the error depends on the distance between x and y, not on their
// size. Decoding yields the lattice point nearest to x, at most eps/2 away, if
// |x - y| < (q - 1) eps / 2. Otherwise it fails silently, off by a multiple of q eps. Rounding is
// to nearest, as in the released code, hence biased within eps/2. The paper's random shift is left
// out.
//
// Source: Davies, Gurunathan, Moshrefi, Ashkboos, Alistarh, ICLR 2021 (the idea, from its
// abstract); released code of SwarmSGD ("SimpleLatticeEncoder": q = 65536, eps = 0.0035 / n).
#pragma once

#include <cstdint>

#include <Eigen/Core>

#include "sim/engine/units.hpp"

namespace paceline {

struct Lattice {
    int bits = 16;         // in [1, 32]
    double step = 0.0035;  // eps, above 0
};

/// Returns the wire size of the codes of this many coordinates, in whole bytes.
[[nodiscard]] Bytes weigh_codes(const Lattice& lattice, std::int64_t entries);

/// Returns the lattice point nearest to x, which is what a correct decode yields.
[[nodiscard]] Eigen::VectorXd round_to(const Lattice& lattice, const Eigen::VectorXd& x);

/// Returns codes: whole numbers in [0, q).
[[nodiscard]] Eigen::VectorXd encode(const Lattice& lattice, const Eigen::VectorXd& x);
[[nodiscard]] Eigen::VectorXd decode(const Lattice& lattice, const Eigen::VectorXd& codes,
                                     const Eigen::VectorXd& reference);

/// Returns how many coordinates were decoded to a lattice point other than the one sent.
[[nodiscard]] std::int64_t decode_failures(const Lattice& lattice, const Eigen::VectorXd& sent,
                                           const Eigen::VectorXd& decoded);

}  // namespace paceline
