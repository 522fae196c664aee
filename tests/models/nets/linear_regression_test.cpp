#include "models/nets/linear_regression.hpp"

#include <Eigen/Dense>
#include <doctest/doctest.h>

#include "tests/models/nets/net_cases.hpp"

namespace paceline::models_linear_regression_test {
namespace {

TEST_CASE("linear regression: the gradient is zero where the normal equations are solved") {
    for (const bool bias : {false, true})
        for (std::uint64_t seed = 0; seed < 5; ++seed) {
            CAPTURE(bias);
            CAPTURE(seed);
            RandomStream random = RandomStreams(seed).stream("linear");
            const Samples batch = draw_features(random, 40, 6, 2);
            Eigen::MatrixXd a(40, bias ? 7 : 6);
            a.leftCols(6) = batch.inputs.transpose().cast<double>();
            if (bias) a.col(6).setOnes();
            const Eigen::VectorXd y = batch.targets.cast<double>();
            const Eigen::VectorXd solution = (a.transpose() * a).ldlt().solve(a.transpose() * y);
            const auto net = make_linear_regression<double>({.features = 6, .bias = bias});
            Eigen::VectorXd g;

            const double loss = net->gradient(solution, batch, g);

            CHECK(g.norm() < 1e-12);
            CHECK(loss == doctest::Approx((a * solution - y).squaredNorm() / 80).epsilon(1e-12));
        }
}

TEST_CASE(
    "linear regression: it starts at zero, where the loss is half the mean square of targets") {
    RandomStream random = RandomStreams(1).stream("linear");
    const Samples batch = draw_features(random, 9, 3, 2);
    const auto net = make_linear_regression<double>({.features = 3});
    Eigen::VectorXd x(4);
    net->initialize(random, x);
    Eigen::VectorXd g;

    CHECK(net->gradient(x, batch, g) ==
          doctest::Approx(batch.targets.cast<double>().squaredNorm() / 18).epsilon(1e-12));
    CHECK(net->score(x, batch).correct == 0);
}

TEST_CASE("linear regression: its tensors are a row of weights and, unless left out, a bias") {
    const auto with = make_linear_regression<float>({.features = 5});
    const auto without = make_linear_regression<float>({.features = 5, .bias = false});

    REQUIRE(with->layout()->tensors().size() == 2);
    CHECK(with->layout()->tensors()[0].name == "weight");
    CHECK(with->layout()->tensors()[0].shape == std::vector<std::int64_t>{1, 5});
    CHECK(with->layout()->tensors()[1].name == "bias");
    CHECK(with->layout()->tensors()[1].shape == std::vector<std::int64_t>{1});
    CHECK(without->layout()->tensors().size() == 1);
    CHECK(without->layout()->entries() == 5);
}

}  // namespace
}  // namespace paceline::models_linear_regression_test
