// Fits of functions whose minimum, curvature and profile are known.
#include "analysis/fit/least_squares.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <Eigen/Dense>
#include <doctest/doctest.h>

namespace paceline::least_squares_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

Residuals one_by_one(std::function<VectorXd(const VectorXd&)> residual) {
    return [residual = std::move(residual)](const std::vector<VectorXd>& places) {
        std::vector<VectorXd> found;
        for (const VectorXd& place : places) found.push_back(residual(place));
        return found;
    };
}

TEST_CASE(
    "least squares: linear residuals end at the normal equations' solution, slopes are theirs") {
    for (unsigned seed = 1; seed <= 60; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 rng(seed);
        std::uniform_real_distribution<double> draw(-1, 1);
        const Eigen::Index n = 1 + seed % 4;
        const Eigen::Index m = n + seed % 5;
        const MatrixXd a = MatrixXd::NullaryExpr(m, n, [&] { return draw(rng); });
        const VectorXd inside = VectorXd::NullaryExpr(n, [&] { return 0.5 + 0.3 * draw(rng); });
        const VectorXd noise = VectorXd::NullaryExpr(m, [&] { return 0.01 * draw(rng); });
        const VectorXd b = a * inside + noise;
        const MatrixXd normal = a.transpose() * a;
        const VectorXd best = normal.ldlt().solve(a.transpose() * b);
        if (best.minCoeff() < 0.02 || best.maxCoeff() > 0.98) continue;
        const Fit found = fit({n, one_by_one([&](const VectorXd& t) { return a * t - b; })});
        const double least = (a * best - b).squaredNorm();
        CHECK(found.sum <= least + 1e-9);
        CHECK((found.slopes - a).cwiseAbs().maxCoeff() < 1e-9);
        if (normal.determinant() > 1e-3) CHECK((found.at - best).norm() < 1e-4);
    }
}

TEST_CASE("least squares: a profile of linear residuals ends at the standard error's multiple") {
    for (unsigned seed = 1; seed <= 40; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 rng(seed);
        std::uniform_real_distribution<double> draw(-1, 1);
        const Eigen::Index n = 1 + seed % 3;
        const MatrixXd a = MatrixXd::NullaryExpr(n + 4, n, [&] { return draw(rng); });
        const VectorXd middle = VectorXd::Constant(n, 0.5);
        const VectorXd b = a * middle;
        const double rise = 1e-3;
        const LeastSquares problem{n, one_by_one([&](const VectorXd& t) { return a * t - b; })};
        const Profiles found = profiles(problem, fit(problem), [&](const Fit&) { return rise; });
        const MatrixXd covariance = (a.transpose() * a).inverse();
        for (Eigen::Index j = 0; j < n; ++j) {
            const double half = std::sqrt(rise * covariance(j, j));
            const ProfileInterval& interval = found.intervals[static_cast<std::size_t>(j)];
            CHECK(interval.high_is_open == (half > 0.5));
            if (half > 0.5) continue;
            CHECK(interval.low == doctest::Approx(0.5 - half).epsilon(0.02));
            CHECK(interval.high == doctest::Approx(0.5 + half).epsilon(0.02));
        }
    }
}

TEST_CASE(
    "least squares: a minimum beyond the range ends at the face, and its interval is open there") {
    const LeastSquares problem{
        1, one_by_one([](const VectorXd& t) { return VectorXd::Constant(3, t[0] - 1.2); })};
    const Fit found = fit(problem);
    CHECK(found.at[0] == doctest::Approx(1).epsilon(1e-4));
    const Profiles profile = profiles(problem, found, [](const Fit&) { return 0.1; });
    CHECK(profile.intervals[0].high_is_open);
    CHECK_FALSE(profile.intervals[0].low_is_open);
}

TEST_CASE(
    "least squares: of two minima the lower is found, and a profile that meets it moves there") {
    const auto two = one_by_one([](const VectorXd& t) {
        VectorXd r(2);
        r[0] = (t[0] - 0.2) * (t[0] - 0.85);
        r[1] = t[0] < 0.5 ? 0.3 : 0.3 - 0.28 * std::min(1.0, (t[0] - 0.5) / 0.2);
        return r;
    });
    const LeastSquares problem{1, two};
    CHECK(fit(problem).at[0] == doctest::Approx(0.85).epsilon(0.01));
    Fit wrong = fit(problem);
    wrong.at[0] = 0.2;
    wrong.residuals = two({wrong.at}).front();
    wrong.sum = wrong.residuals.squaredNorm();
    const Profiles moved = profiles(problem, wrong, [](const Fit&) { return 1.0; });
    CHECK(moved.fit.at[0] == doctest::Approx(0.85).epsilon(0.01));
}

TEST_CASE("least squares: two parameters that only their sum counts of leave both open") {
    const LeastSquares problem{2, one_by_one([](const VectorXd& t) {
                                   VectorXd r(3);
                                   r << t[0] + t[1] - 1, 2 * (t[0] + t[1]) - 2, 0.01;
                                   return r;
                               })};
    const Profiles found =
        profiles(problem, fit(problem), [](const Fit& at) { return 1e-4 + at.sum; });
    CHECK(found.fit.at.sum() == doctest::Approx(1).epsilon(1e-4));
    LeastSquares anchored = problem;
    anchored.anchor = VectorXd::Constant(2, 0.7);
    anchored.anchor[1] = 0.4;
    const Fit nearest = fit(anchored);
    CHECK(nearest.at[0] == doctest::Approx(0.65).epsilon(0.02));
    CHECK(nearest.at[1] == doctest::Approx(0.35).epsilon(0.02));
    for (const ProfileInterval& interval : found.intervals) {
        CHECK(interval.low_is_open);
        CHECK(interval.high_is_open);
    }
}

}  // namespace
}  // namespace paceline::least_squares_test
