#include "algorithms/compression/lattice.hpp"

#include <cmath>

namespace paceline {

namespace {

double points(const Lattice& lattice) {
    return std::ldexp(1.0, lattice.bits);
}

}  // namespace

Bytes weigh_codes(const Lattice& lattice, std::int64_t entries) {
    constexpr std::int64_t bits_per_byte = 8;
    return Bytes{(entries * lattice.bits + bits_per_byte - 1) / bits_per_byte};
}

Eigen::VectorXd round_to(const Lattice& lattice, const Eigen::VectorXd& x) {
    return (x.array() / lattice.step).round() * lattice.step;
}

Eigen::VectorXd encode(const Lattice& lattice, const Eigen::VectorXd& x) {
    const double q = points(lattice);
    const Eigen::ArrayXd place = (x.array() / lattice.step).round();
    return place - q * (place / q).floor();
}

// Places and periods are whole numbers, so both ends compute the same point to the bit.
Eigen::VectorXd decode(const Lattice& lattice, const Eigen::VectorXd& codes,
                       const Eigen::VectorXd& reference) {
    const double q = points(lattice);
    const Eigen::ArrayXd periods = ((reference.array() / lattice.step - codes.array()) / q).round();
    return (codes.array() + q * periods) * lattice.step;
}

std::int64_t decode_failures(const Lattice& lattice, const Eigen::VectorXd& sent,
                             const Eigen::VectorXd& decoded) {
    const Eigen::ArrayXd off = (sent - decoded).array().abs();
    return (off > lattice.step / 2).count();
}

}  // namespace paceline
