#include "models/nets/mlp.hpp"

#include <cmath>

#include <doctest/doctest.h>

#include "sim/engine/check.hpp"
#include "tests/models/nets/net_cases.hpp"

namespace paceline::mlp_test {
namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

TEST_CASE("mlp: the loss is that of the formula, written out") {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        CAPTURE(seed);
        RandomStream random = RandomStreams(seed).stream("mlp");
        const auto net = make_mlp<double>({.features = 6, .hidden = {15}, .classes = 4});
        const Samples batch = draw_features(random, 50, 6, 4);
        const Eigen::VectorXd x = random_point(random, 15 * 7 + 4 * 16, 0.7);
        const RowMajor w1 = x.head(90).reshaped<Eigen::RowMajor>(15, 6);
        const RowMajor w2 = x.segment(105, 60).reshaped<Eigen::RowMajor>(4, 15);

        double expected = 0;
        int correct = 0;
        for (Eigen::Index s = 0; s < 50; ++s) {
            const Eigen::VectorXd in = batch.inputs.col(s).cast<double>();
            const Eigen::VectorXd hidden = (w1 * in + x.segment(90, 15)).cwiseMax(0.0);
            const Eigen::VectorXd logits = w2 * hidden + x.tail(4);
            expected += std::log(logits.array().exp().sum()) - logits[batch.labels[s]];
            Eigen::Index predicted = 0;
            logits.maxCoeff(&predicted);
            correct += predicted == batch.labels[s] ? 1 : 0;
        }

        CHECK(net->score(x, batch).loss == doctest::Approx(expected).epsilon(1e-12));
        CHECK(net->score(x, batch).correct == correct);
    }
}

TEST_CASE("mlp: with zero weights the loss is ln(classes)") {
    RandomStream random = RandomStreams(1).stream("mlp");
    const auto net = make_mlp<float>({.features = 6, .hidden = {8, 9}, .classes = 7});
    Eigen::VectorXf g;

    CHECK(net->gradient(Eigen::VectorXf::Zero(net->layout()->entries()),
                        draw_features(random, 33, 6, 7), g) == doctest::Approx(std::log(7)));
}

TEST_CASE("mlp: its tensors are fc1.weight {out, in}, fc1.bias {out}, fc2.weight and so on") {
    const auto net = make_mlp<float>({.features = 784, .hidden = {256, 32}, .classes = 10});
    const auto& tensors = net->layout()->tensors();

    REQUIRE(tensors.size() == 6);
    CHECK(tensors[0].name == "fc1.weight");
    CHECK(tensors[0].shape == std::vector<std::int64_t>{256, 784});
    CHECK(tensors[1].name == "fc1.bias");
    CHECK(tensors[1].shape == std::vector<std::int64_t>{256});
    CHECK(tensors[4].name == "fc3.weight");
    CHECK(tensors[4].shape == std::vector<std::int64_t>{10, 32});
    CHECK(net->tensor_macs() == std::vector<double>{256 * 784, 0, 32 * 256, 0, 320, 0});
}

TEST_CASE(
    "mlp: weights start with variance 2 / in before a ReLU and 1 / in at the end, biases at 0") {
    RandomStream random = RandomStreams(1).stream("mlp");
    const auto net = make_mlp<double>({.features = 400, .hidden = {500}, .classes = 100});
    Eigen::VectorXd x(net->layout()->entries());
    net->initialize(random, x);
    const auto first = x.head(200'000);
    const auto last = x.segment(200'500, 50'000);

    // The standard error of a variance from n draws is sqrt(2 / n): 0.3 % and 0.6 %.
    CHECK(std::abs(first.squaredNorm() / 200'000 * 400 / 2 - 1) < 0.015);
    CHECK(std::abs(last.squaredNorm() / 50'000 * 500 - 1) < 0.03);
    CHECK(std::abs(first.mean()) < 5 * std::sqrt(2.0 / 400 / 200'000));
    CHECK(x.segment(200'000, 500).isZero(0));
    CHECK(x.tail(100).isZero(0));
}

TEST_CASE("mlp: batches that do not fit it are refused") {
    RandomStream random = RandomStreams(1).stream("mlp");
    const auto net = make_mlp<float>({.features = 6, .hidden = {8}, .classes = 3});
    const Eigen::VectorXf x = Eigen::VectorXf::Zero(net->layout()->entries());
    Eigen::VectorXf g;
    Samples no_labels = draw_features(random, 4, 6, 3);
    no_labels.labels.resize(0);

    CHECK_THROWS_AS(net->gradient(x, draw_features(random, 4, 5, 3), g), LogicError);
    CHECK_THROWS_AS(net->gradient(x, no_labels, g), LogicError);
    CHECK_THROWS_AS(net->gradient(x, Samples{}, g), LogicError);
    CHECK_THROWS_AS(net->gradient(x.head(3), draw_features(random, 4, 6, 3), g), LogicError);
}

}  // namespace
}  // namespace paceline::mlp_test
