#include "algorithms/compression/lattice.hpp"

#include <cmath>
#include <random>

#include <doctest/doctest.h>

namespace paceline::lattice_test {
namespace {

Eigen::VectorXd one(double x) {
    return Eigen::VectorXd::Constant(1, x);
}

double sent_to(const Lattice& lattice, double x, double reference) {
    return decode(lattice, encode(lattice, one(x)), one(reference))(0);
}

TEST_CASE("lattice, property: within reach a coordinate is decoded to half a step") {
    const Lattice lattice{16, 0.0035 / 16};
    const double reach = 0.5 * (65536 - 1) * lattice.step;
    std::mt19937_64 rng(7);
    std::uniform_real_distribution<double> any(-1, 1);
    double worst = 0;
    for (int i = 0; i < 20'000; ++i) {
        const double y = 100 * any(rng);
        const double x = y + reach * any(rng);
        const double error = std::abs(sent_to(lattice, x, y) - x);
        REQUIRE(error <= lattice.step / 2 * (1 + 1e-9));
        worst = std::max(worst, error);
    }
    CHECK(worst > 0.99 * 1.09375e-4);  // of step / 2
    CHECK(worst < 1.0001 * 1.09375e-4);
}

TEST_CASE("lattice: beyond its reach decoding is silently off by a whole period") {
    const Lattice lattice{16, 0.0035 / 16};
    const double period = 65536 * lattice.step;
    const double x = 0.6 * period;

    CHECK(std::abs(x - 8.6016) < 1e-12);
    CHECK(std::abs(sent_to(lattice, x, 0) - -5.7343) < 1e-4);  // 8.6016 - 14.336
    CHECK(std::abs(sent_to(lattice, x, 0) - (x - period)) < lattice.step);
}

TEST_CASE("lattice: what was decoded wrongly is counted, to the coordinate") {
    const Lattice lattice{8, 0.01};  // reach 1.275
    Eigen::VectorXd x(4);
    x << 0.5, 1.5, -1.2, -2.0;
    const Eigen::VectorXd decoded = decode(lattice, encode(lattice, x), Eigen::VectorXd::Zero(4));

    CHECK(decode_failures(lattice, round_to(lattice, x), decoded) == 2);
    CHECK(std::abs(decoded(1) - (1.5 - 2.56)) < 1e-12);
    CHECK(std::abs(decoded(3) - (-2.0 + 2.56)) < 1e-12);
}

TEST_CASE("lattice: both ends form the same point, to the bit") {
    const Lattice lattice{12, 1e-3};
    std::mt19937_64 rng(3);
    std::uniform_real_distribution<double> any(-1, 1);
    for (int i = 0; i < 1000; ++i) {
        const double x = any(rng);
        CHECK(sent_to(lattice, x, any(rng)) == round_to(lattice, one(x))(0));
    }
}

TEST_CASE("lattice: codes are whole numbers below 2^bits, and weigh as many bits") {
    const Lattice lattice{8, 0.01};
    const Eigen::VectorXd codes = encode(lattice, Eigen::VectorXd::LinSpaced(1000, -9, 9));

    CHECK(codes.minCoeff() == 0);
    CHECK(codes.maxCoeff() == 255);
    CHECK((codes.array() == codes.array().floor()).all());
    CHECK(weigh_codes(lattice, 1000) == Bytes{1000});
    CHECK(weigh_codes({16, 1}, 1000) == Bytes{2000});
    CHECK(weigh_codes({3, 1}, 3) == Bytes{2});
}

}  // namespace
}  // namespace paceline::lattice_test
