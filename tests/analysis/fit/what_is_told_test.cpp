#include "analysis/fit/what_is_told.hpp"

#include <cmath>
#include <random>

#include <Eigen/Dense>
#include <doctest/doctest.h>

namespace paceline::what_is_told_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

Fit linear_fit(const MatrixXd& slopes, const VectorXd& residuals) {
    return {VectorXd::Constant(slopes.cols(), 0.5), residuals, slopes, residuals.squaredNorm()};
}

TEST_CASE("what is told: the rise at 90 % is Student's t squared, and chi-squared by default") {
    CHECK(rise_of({1, true, 0}, 0.9) == doctest::Approx(1.6449 * 1.6449).epsilon(1e-4));
    CHECK(rise_of({1, false, 2}, 0.9) == doctest::Approx(2.9200 * 2.9200).epsilon(1e-4));
    CHECK(rise_of({0.5, false, 10}, 0.9) == doctest::Approx(0.25 * 1.8125 * 1.8125).epsilon(1e-4));
}

TEST_CASE("what is told: noise is that of the residuals from two rows more than parameters on") {
    const VectorXd residuals = VectorXd::Constant(4, 0.1);
    const Noise told = noise_of(linear_fit(MatrixXd::Ones(4, 2), residuals), 0.05);
    CHECK_FALSE(told.is_default);
    CHECK(told.share == doctest::Approx(0.1 * std::sqrt(2.0)));
    CHECK(noise_of(linear_fit(MatrixXd::Ones(4, 3), residuals), 0.05).share == 0.05);
}

TEST_CASE("what is told: only the product of two constants leaves their ratio open, and says so") {
    MatrixXd slopes(3, 2);
    slopes << 1, 1, 2, 2, 1, 1;
    const auto weak = weak_directions(linear_fit(slopes, VectorXd::Zero(3)), 1e-4);
    REQUIRE(weak.size() == 1);
    CHECK(std::abs(weak[0].along[0]) == doctest::Approx(std::sqrt(0.5)));
    CHECK(weak[0].along[0] * weak[0].along[1] < 0);
    CHECK(weak[0].half_width > 1e6);
    CHECK(weak[0].moves < 1e-12);
}

TEST_CASE("what is told, property: a row that is far off is named, and seldom another") {
    int false_ones = 0;
    for (unsigned seed = 1; seed <= 300; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 rng(seed);
        std::normal_distribution<double> normal(0, 0.05);
        const MatrixXd a = MatrixXd::NullaryExpr(12, 2, [&] { return 20 * normal(rng); });
        VectorXd b = VectorXd::NullaryExpr(12, [&] { return normal(rng); });
        const auto fitted = [&] {
            const VectorXd best = a.colPivHouseholderQr().solve(b);
            return linear_fit(a, a * best - b);
        };
        false_ones += misfits(fitted(), noise_of(fitted(), 0.05)).empty() ? 0 : 1;
        b[4] += 1;
        const Fit found = fitted();
        const auto named = misfits(found, noise_of(found, 0.05));
        CHECK(std::ranges::find(named, std::size_t{4}) != named.end());
    }
    CHECK(false_ones <= 9);  // 1 % of them; 9 or fewer of 300 in 99.9 % of such tests
}

}  // namespace
}  // namespace paceline::what_is_told_test
