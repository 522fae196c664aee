#include "models/nets/softmax_regression.hpp"

#include <cmath>

#include <doctest/doctest.h>

#include "tests/models/nets/net_cases.hpp"

namespace paceline::softmax_regression_test {
namespace {

TEST_CASE("softmax regression: it starts at zero, where the loss is ln(classes)") {
    RandomStream random = RandomStreams(1).stream("softmax");
    const auto net = make_softmax_regression<double>(6, 5);
    const Samples batch = draw_features(random, 21, 6, 5);
    Eigen::VectorXd x(35);
    net->initialize(random, x);
    Eigen::VectorXd g;

    CHECK(x.isZero(0));
    CHECK(net->gradient(x, batch, g) == doctest::Approx(std::log(5)).epsilon(1e-14));
    CHECK(net->score(x, batch).correct == (batch.labels.array() == 0).count());
}

TEST_CASE("softmax regression: a constant added to every class's weights changes no loss") {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        CAPTURE(seed);
        RandomStream random = RandomStreams(seed).stream("softmax");
        const auto net = make_softmax_regression<double>(4, 3);
        const Samples batch = draw_features(random, 10, 4, 3);
        Eigen::VectorXd x = random_point(random, 15, 1);
        Eigen::VectorXd g;
        const double loss = net->gradient(x, batch, g);
        const Eigen::VectorXd shift = random_point(random, 5, 1);

        // The gradient sums to zero over the classes.
        CHECK(g.head(12).reshaped(4, 3).rowwise().sum().norm() < 1e-14);
        CHECK(std::abs(g.tail(3).sum()) < 1e-14);
        for (int c = 0; c < 3; ++c) x.segment(4 * c, 4) += shift.head(4);
        x.tail(3).array() += shift[4];
        CHECK(net->gradient(x, batch, g) == doctest::Approx(loss).epsilon(1e-12));
    }
}

TEST_CASE("softmax regression: its tensors are weight {classes, features} and bias {classes}") {
    const auto net = make_softmax_regression<float>(784, 10);
    const auto& tensors = net->layout()->tensors();

    REQUIRE(tensors.size() == 2);
    CHECK(tensors[0].name == "weight");
    CHECK(tensors[0].shape == std::vector<std::int64_t>{10, 784});
    CHECK(tensors[1].name == "bias");
    CHECK(tensors[1].shape == std::vector<std::int64_t>{10});
    CHECK(net->tensor_macs() == std::vector<double>{7840, 0});
}

}  // namespace
}  // namespace paceline::softmax_regression_test
