#include "algorithms/compression/column_quantizer.hpp"

#include <cmath>
#include <random>

#include <doctest/doctest.h>

namespace paceline::column_quantizer_test {
namespace {

using doctest::Approx;

const Layout one_column({{"bias", {4}}});

Eigen::VectorXd four(double a, double b, double c, double d) {
    return Eigen::Vector4d(a, b, c, d);
}

Eigen::VectorXd random_vector(std::mt19937& random, Eigen::Index entries) {
    std::normal_distribution<double> normal(0.3);
    return Eigen::VectorXd::NullaryExpr(entries, [&] { return normal(random); });
}

TEST_CASE("column quantizer: levels are the means of both sides, zero is not negative") {
    Eigen::VectorXd residual = Eigen::VectorXd::Zero(4);

    const Eigen::VectorXd said = quantize_columns(one_column, four(-1, 0, 3, -2), residual);

    CHECK(said == four(-1.5, 1.5, 1.5, -1.5));
    CHECK(residual == four(0.5, -1.5, 1.5, -0.5));
}

TEST_CASE("column quantizer: what was not sent is added to the next call") {
    Eigen::VectorXd residual = four(0.5, -1.5, 1.5, -0.5);

    const Eigen::VectorXd said = quantize_columns(one_column, four(0, 0, 0, 1), residual);

    CHECK(said.isApprox(four(2.5 / 3, -1.5, 2.5 / 3, 2.5 / 3)));
    CHECK(residual.isApprox(four(0.5, -1.5, 1.5, 0.5) - said));
}

TEST_CASE("column quantizer: a side without entries has no level") {
    Eigen::VectorXd residual = Eigen::VectorXd::Zero(4);

    CHECK(quantize_columns(one_column, four(1, 2, 3, 6), residual) == four(3, 3, 3, 3));
    residual.setZero();
    CHECK(quantize_columns(one_column, four(-1, -2, -3, -6), residual) == four(-3, -3, -3, -3));
}

TEST_CASE("column quantizer: every index of the first dimension has levels of its own") {
    const Layout layout({{"w", {2, 2}}, {"bias", {2}}});
    Eigen::VectorXd residual = Eigen::VectorXd::Zero(6);
    Eigen::VectorXd v(6);
    v << 1, 3, -10, -20, 5, -7;

    Eigen::VectorXd expected(6);
    expected << 2, 2, -15, -15, 5, -7;
    CHECK(quantize_columns(layout, v, residual) == expected);
    CHECK(columns_of({"conv", {8, 3, 3, 3}}) == 8);
    CHECK(rows_of({"conv", {8, 3, 3, 3}}) == 27);
    CHECK(columns_of({"bias", {8}}) == 1);
    CHECK(rows_of({"bias", {8}}) == 8);
}

TEST_CASE("column quantizer, property: the error is what the levels leave, and never grows") {
    for (unsigned seed = 0; seed < 100; ++seed) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        const Layout layout({{"w", {1 + static_cast<int>(seed % 7), 11}}, {"b", {9}}});
        Eigen::VectorXd residual = random_vector(random, layout.entries());
        const Eigen::VectorXd a = random_vector(random, layout.entries()) + residual;
        const Eigen::VectorXd v = a - residual;

        const Eigen::VectorXd said = quantize_columns(layout, v, residual);

        CHECK((said + residual - a).cwiseAbs().maxCoeff() < 1e-14);
        CHECK(residual.squaredNorm() <= a.squaredNorm());
        CHECK(residual.squaredNorm() ==
              Approx(a.squaredNorm() - said.squaredNorm()).epsilon(1e-12));
    }
}

TEST_CASE("column quantizer: a column weighs a word per 32 rows and two floats") {
    CHECK(column_bytes(1) == Bytes{12});
    CHECK(column_bytes(32) == Bytes{12});
    CHECK(column_bytes(33) == Bytes{16});
    CHECK(column_bytes(1024) == Bytes{136});
}

}  // namespace
}  // namespace paceline::column_quantizer_test
