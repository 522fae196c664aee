#include "models/nets/softmax.hpp"

#include <array>
#include <cmath>
#include <limits>

#include <doctest/doctest.h>

#include "models/nets/layers/lanes.hpp"
#include "sim/engine/check.hpp"

namespace paceline::softmax_test {
namespace {

TEST_CASE("softmax: the loss and gradient of two classes are those of the logistic function") {
    Panel<double> logits = Panel<double>::Zero(lanes, 2);
    logits.col(0).setLinSpaced(-3, 5);
    const Lanes<double> z = logits.col(0);
    std::array<int, lanes> labels{};
    for (std::size_t lane = 0; lane < labels.size(); ++lane) labels[lane] = lane % 2 == 0 ? 0 : 1;

    const double loss = softmax_gradient(logits.data(), 2, lanes, labels, 0.25);

    double expected = 0;
    for (Eigen::Index lane = 0; lane < lanes; ++lane) {
        const double first = 1 / (1 + std::exp(-z[lane]));
        expected -= std::log(lane % 2 == 0 ? first : 1 - first);
        const double d = first - (lane % 2 == 0 ? 1 : 0);
        CHECK(logits(lane, 0) == doctest::Approx(0.25 * d).epsilon(1e-12));
        CHECK(logits(lane, 1) == doctest::Approx(-0.25 * d).epsilon(1e-12));
    }
    CHECK(loss == doctest::Approx(expected).epsilon(1e-12));
}

TEST_CASE("softmax: a constant added to all logits changes nothing, however large") {
    const std::array<int, 3> labels{2, 0, 1};
    Panel<double> logits(lanes, 3);
    for (Eigen::Index c = 0; c < 3; ++c) logits.col(c).setLinSpaced(static_cast<double>(c), 2.0);
    const double loss = softmax_score<double>(logits.data(), 3, lanes, labels).loss;
    for (const double shift : {-1e6, 700.0, 1e4, 1e9}) {
        CAPTURE(shift);
        const Panel<double> shifted = logits + shift;
        CHECK(softmax_score<double>(shifted.data(), 3, lanes, labels).loss ==
              doctest::Approx(loss).epsilon(1e-6));
    }
}

TEST_CASE("softmax: lanes without a label have no loss and no gradient") {
    Panel<float> logits = Panel<float>::Constant(lanes, 4, 7.0f);
    const std::array<int, 5> labels{0, 1, 2, 3, 0};

    const double loss = softmax_gradient(logits.data(), 4, lanes, labels, 1.0f);

    CHECK(loss == doctest::Approx(5 * std::log(4)));
    CHECK((logits.bottomRows(lanes - 5) == 0.0f).all());
    CHECK(logits.topRows(5).rowwise().sum().abs().maxCoeff() < 1e-6f);
}

TEST_CASE("softmax: the largest logit is predicted, and the first of equal ones") {
    Panel<double> logits = Panel<double>::Zero(lanes, 3);
    logits(0, 1) = 1;   // predicts 1
    logits(1, 2) = 1;   // predicts 2
    logits(2, 0) = -1;  // classes 1 and 2 tie: predicts 1
    const std::array<int, 4> labels{1, 0, 2, 0};

    const Score score = softmax_score<double>(logits.data(), 3, lanes, labels);

    CHECK(score.correct == 2);  // lanes 0 and 3
    CHECK(score.predictions == 4);
}

TEST_CASE("softmax: a logit that is not a number makes its sample's loss not a number, too") {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    for (Eigen::Index at = 0; at < 3; ++at) {
        Panel<double> logits = Panel<double>::Zero(lanes, 3);
        logits(0, at) = nan;
        const std::array<int, 1> labels{0};
        CHECK(std::isnan(softmax_score<double>(logits.data(), 3, lanes, labels).loss));
        CHECK(std::isnan(softmax_gradient(logits.data(), 3, lanes, labels, 1.0)));
    }
}

TEST_CASE("softmax: a label that is no class is refused") {
    Panel<double> logits = Panel<double>::Zero(lanes, 3);
    for (const int label : {-1, 3}) {
        const std::array<int, 1> labels{label};
        CHECK_THROWS_AS(static_cast<void>(softmax_score<double>(logits.data(), 3, lanes, labels)),
                        LogicError);
    }
}

}  // namespace
}  // namespace paceline::softmax_test
