#include "models/data/digits.hpp"

#include <cmath>
#include <vector>

#include <Eigen/Dense>
#include <doctest/doctest.h>

#include "models/data/normal.hpp"
#include "sim/engine/check.hpp"

namespace paceline::digits_test {
namespace {

Eigen::MatrixXf with_bias(const Eigen::MatrixXf& features) {
    Eigen::MatrixXf all(features.rows() + 1, features.cols());
    all << features, Eigen::RowVectorXf::Ones(features.cols());
    return all;
}

/// Accuracy on the test samples of a least-squares fit to one-hot labels, with a small ridge term.
double accuracy(const Eigen::MatrixXf& train, const Eigen::VectorXi& labels,
                const Eigen::MatrixXf& test, const Eigen::VectorXi& test_labels) {
    const Eigen::MatrixXf X = with_bias(train);
    Eigen::MatrixXf one_hot = Eigen::MatrixXf::Zero(10, labels.size());
    for (Eigen::Index j = 0; j < labels.size(); ++j) one_hot(labels[j], j) = 1;
    Eigen::MatrixXf normal = X * X.transpose();
    normal.diagonal().array() += 1;
    const Eigen::MatrixXf W = normal.llt().solve(X * one_hot.transpose());
    const Eigen::MatrixXf scores = W.transpose() * with_bias(test);
    int correct = 0;
    for (Eigen::Index j = 0; j < test_labels.size(); ++j) {
        int best = 0;
        scores.col(j).maxCoeff(&best);
        correct += best == test_labels[j] ? 1 : 0;
    }
    return correct / static_cast<double>(test_labels.size());
}

// All images of a digit are identical except for their shade.
DigitsOptions undistorted(double pen, int train) {
    return {.shift = 0,
            .rotation = 0,
            .scale = 0,
            .shear = 0,
            .warp = 0,
            .thinnest = pen,
            .thickest = pen,
            .softest = 0,
            .noise = 0,
            .train = train,
            .test = 0};
}

// The mean of f(column) over the ink of each image of a digit, 28 pixels wide.
template <class F>
std::vector<double> means_over_ink(const Samples& samples, int digit, const F& f) {
    std::vector<double> means;
    for (Eigen::Index j = 0; j < samples.count(); ++j) {
        if (samples.labels[j] != digit) continue;
        double mass = 0;
        double sum = 0;
        for (int i = 0; i < 28 * 28; ++i) {
            const auto ink = static_cast<double>(samples.inputs(i, j));
            mass += ink;
            sum += ink * f(i % 28);
        }
        means.push_back(sum / mass);
    }
    return means;
}

TEST_CASE("digits: a linear model is well above chance and several points below a nonlinear one") {
    const Dataset data = digits({.size = 14, .train = 3000, .test = 1000}, RandomStreams(1));
    RandomStream stream = RandomStreams(2).stream("features");
    Eigen::MatrixXf random(600, 14 * 14);
    fill_normal(random, stream);
    const auto relu = [&](const Eigen::MatrixXf& x) -> Eigen::MatrixXf {
        return (random * (x.array() - 0.15f).matrix()).cwiseMax(0);
    };

    const double linear =
        accuracy(data.train.inputs, data.train.labels, data.test.inputs, data.test.labels);
    const double nonlinear = accuracy(relu(data.train.inputs), data.train.labels,
                                      relu(data.test.inputs), data.test.labels);

    CAPTURE(linear);
    CAPTURE(nonlinear);
    CHECK(linear > 0.5);
    CHECK(nonlinear > linear + 0.04);
}

TEST_CASE("digits: pixels are in [0, 1], digits equally likely, shapes as asked for") {
    for (const int channels : {1, 3}) {
        CAPTURE(channels);
        const DigitsOptions options{.channels = channels, .size = 12, .train = 2000, .test = 5};
        const Dataset data = digits(options, RandomStreams(1));

        CHECK(data.train.inputs.rows() == channels * 144);
        CHECK(data.train.count() == 2000);
        CHECK(data.test.count() == 5);
        CHECK(data.classes == 10);
        CHECK(data.image.channels == channels);
        CHECK(data.image.height == 12);
        CHECK(data.train.inputs.minCoeff() >= 0);
        CHECK(data.train.inputs.maxCoeff() <= 1);
        for (int digit = 0; digit < 10; ++digit) {
            const auto count = static_cast<double>((data.train.labels.array() == digit).count());
            CHECK(std::abs(count - 200) < 5 * std::sqrt(180.0));
        }
    }
}

TEST_CASE("digits: without distortions all images of a digit are one, and the ten differ") {
    DigitsOptions plain = undistorted(0.08, 300);
    plain.faintest = 1;
    const Samples samples = digits(plain, RandomStreams(1)).train;

    for (int j = 1; j < 300; ++j) {
        const float distance = (samples.inputs.col(j) - samples.inputs.col(0)).norm();
        CHECK((distance == 0) == (samples.labels[j] == samples.labels[0]));
    }
    // A stroke covers its width times its length in pixels. "1" is 0.33 + 0.96 glyph units long, of
    // height 0.72, plus round ends.
    const double pen = 0.08 * 28;
    const double height = 0.72 * 28;
    const double slant = std::hypot(0.27 * 0.5 * 28, 0.18 * height);
    const double one = pen * (slant + 0.96 * height) + 3.14159 * pen * pen / 4;
    for (int j = 0; j < 300; ++j)
        if (samples.labels[j] == 1)
            CHECK(static_cast<double>(samples.inputs.col(j).sum()) ==
                  doctest::Approx(one).epsilon(0.05));
}

TEST_CASE("digits: a shift alone moves the digit's center of mass uniformly") {
    DigitsOptions options = undistorted(0.08, 3000);
    options.shift = 0.1;
    const Samples samples = digits(options, RandomStreams(1)).train;
    const std::vector<double> centers =
        means_over_ink(samples, 8, [](int column) { return column + 0.5; });
    double sum = 0;
    double squares = 0;
    for (const double center : centers) {
        sum += center;
        squares += std::pow(center - 14, 2);
    }
    const auto count = static_cast<double>(centers.size());
    // Uniform in 14 +- 2.8 pixels: variance 2.8^2 / 3. "8" is its own mirror image.
    const double variance = 2.8 * 2.8 / 3;
    CHECK(std::abs(sum / count - 14) < 5 * std::sqrt(variance / count));
    CHECK(std::abs(squares / count / variance - 1) < 5 * std::sqrt(0.8 / count));
}

TEST_CASE("digits: a scale alone stretches a digit's width uniformly around its own") {
    const auto widths = [](double scale) {
        DigitsOptions options = undistorted(0.04, 1500);
        options.scale = scale;
        const Samples samples = digits(options, RandomStreams(1)).train;
        std::vector<double> deviations =
            means_over_ink(samples, 0, [](int column) { return std::pow(column - 13.5, 2); });
        for (double& deviation : deviations) deviation = std::sqrt(deviation);
        return deviations;
    };
    const double unscaled = widths(0).front();
    const std::vector<double> scaled = widths(0.3);
    double sum = 0;
    for (const double width : scaled) {
        CHECK(width / unscaled > 0.7 - 0.05);
        CHECK(width / unscaled < 1.3 + 0.05);
        sum += width / unscaled;
    }
    const auto count = static_cast<double>(scaled.size());
    CHECK(std::abs(sum / count - 1) < 4 * 0.3 / std::sqrt(3 * count));
}

TEST_CASE("digits: noise has the deviation asked for where nothing clips it") {
    const DigitsOptions options{.channels = 3,
                                .size = 8,
                                .thinnest = 0,
                                .thickest = 0,
                                .softest = 0,
                                .noise = 0.01,
                                .train = 500,
                                .test = 0};
    const Samples samples = digits(options, RandomStreams(1)).train;

    // The corner pixels (0, 0) and (1, 0) are background: they differ by two independent noises.
    double squares = 0;
    int count = 0;
    for (Eigen::Index j = 0; j < 500; ++j) {
        const auto a = static_cast<double>(samples.inputs(0, j));
        const auto b = static_cast<double>(samples.inputs(1, j));
        if (a < 0.1 || a > 0.9) continue;
        squares += (a - b) * (a - b);
        ++count;
    }
    CHECK(std::abs(squares / count / 2e-4 - 1) < 5 * std::sqrt(2.0 / count));
}

TEST_CASE("digits: a seed gives the same images, and another seed others") {
    const DigitsOptions options{.size = 10, .train = 50, .test = 20};
    const Dataset once = digits(options, RandomStreams(1));

    CHECK(once.train.inputs == digits(options, RandomStreams(1)).train.inputs);
    CHECK(once.train.inputs != digits(options, RandomStreams(2)).train.inputs);
    CHECK(once.train.inputs.leftCols(20) != once.test.inputs);
    const Dataset more = digits({.size = 10, .train = 60, .test = 20}, RandomStreams(1));
    CHECK(more.train.inputs.leftCols(50) == once.train.inputs);
    CHECK_THROWS_AS(digits({.channels = 2}, RandomStreams(1)), LogicError);
}

}  // namespace
}  // namespace paceline::digits_test
