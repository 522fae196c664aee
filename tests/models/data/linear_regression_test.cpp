#include "models/data/linear_regression.hpp"

#include <cmath>

#include <Eigen/Dense>
#include <doctest/doctest.h>

namespace paceline::models_linear_regression_test {
namespace {

Eigen::VectorXd least_squares(const Samples& samples, int from, int rows) {
    const Eigen::MatrixXd A = samples.inputs.middleCols(from, rows).cast<double>().transpose();
    const Eigen::VectorXd b = samples.targets.segment(from, rows).cast<double>();
    return A.colPivHouseholderQr().solve(b);
}

double residual(const Samples& samples, int from, int rows, const Eigen::VectorXd& x) {
    return (samples.inputs.middleCols(from, rows).cast<double>().transpose() * x -
            samples.targets.segment(from, rows).cast<double>())
        .squaredNorm();
}

TEST_CASE(
    "linear regression: without noise every node's block has one exact optimum, in both sets") {
    const Dataset data = linear_regression({.noise = 0}, RandomStreams(1));

    REQUIRE(data.train.count() == 400);
    REQUIRE(data.test.count() == 400);
    CHECK(data.predicts == Prediction::number);
    for (int i = 0; i < 8; ++i) {
        CAPTURE(i);
        const Eigen::VectorXd optimum = least_squares(data.train, 50 * i, 50);
        CHECK(residual(data.train, 50 * i, 50, optimum) < 1e-9);
        CHECK(residual(data.test, 50 * i, 50, optimum) < 1e-9);
    }
}

TEST_CASE("linear regression: optima lie about a common one with the spread asked for") {
    const LinearRegressionOptions options{.nodes = 200, .rows = 40, .test_rows = 0, .noise = 0};
    const Dataset data = linear_regression(options, RandomStreams(2));

    Eigen::MatrixXd optima(30, 200);
    for (int i = 0; i < 200; ++i) optima.col(i) = least_squares(data.train, 40 * i, 40);

    const Eigen::VectorXd center = optima.rowwise().mean();
    const double variance = (optima.colwise() - center).squaredNorm() / (199.0 * 30);
    CHECK(std::abs(variance - 0.25) < 5 * 0.25 * std::sqrt(2 / (199.0 * 30)));
    // |x|^2 of N(0, I_30) has mean 30 and standard deviation sqrt(60).
    CHECK(std::abs(center.squaredNorm() - 30) < 5 * std::sqrt(60.0));
}

TEST_CASE("linear regression: without a spread all nodes share one optimum") {
    const LinearRegressionOptions options{.nodes = 4, .rows = 100, .noise = 0, .spread = 0};
    const Dataset data = linear_regression(options, RandomStreams(3));

    CHECK(residual(data.train, 0, 400, least_squares(data.train, 0, 100)) < 1e-9);
}

TEST_CASE(
    "linear regression: the residual of the optimum is noise with rows - d degrees of freedom") {
    const LinearRegressionOptions options{.nodes = 1, .rows = 5030, .test_rows = 0};
    const Dataset data = linear_regression(options, RandomStreams(4));

    const double rest = residual(data.train, 0, 5030, least_squares(data.train, 0, 5030));
    CHECK(std::abs(rest / 5000 - 0.01) < 5 * 0.01 * std::sqrt(2 / 5000.0));
}

TEST_CASE("linear regression: a node's samples depend on the seed and not on the number of nodes") {
    const Dataset three = linear_regression({.nodes = 3}, RandomStreams(1));
    const Dataset eight = linear_regression({.nodes = 8}, RandomStreams(1));
    const Dataset other = linear_regression({.nodes = 3}, RandomStreams(2));

    CHECK(three.train.inputs == eight.train.inputs.leftCols(150));
    CHECK(three.train.targets == eight.train.targets.head(150));
    CHECK(three.test.targets == eight.test.targets.head(150));
    CHECK(three.train.targets != other.train.targets);
    CHECK(three.train.inputs.leftCols(50) != three.train.inputs.middleCols(50, 50));
    CHECK(three.train.inputs != three.test.inputs);
}

}  // namespace
}  // namespace paceline::models_linear_regression_test
