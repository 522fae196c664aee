#include "models/data/gaussian_mixture.hpp"

#include <algorithm>
#include <cmath>

#include <doctest/doctest.h>

namespace paceline::gaussian_mixture_test {
namespace {

/// Returns the probability that N(0, 1) exceeds x.
double upper_tail(double x) {
    return std::erfc(x / std::sqrt(2.0)) / 2;
}

double nearest_mean_accuracy(const Samples& samples, const Eigen::MatrixXf& means, int classes) {
    int correct = 0;
    for (Eigen::Index j = 0; j < samples.count(); ++j) {
        int nearest = 0;
        (means.colwise() - samples.inputs.col(j)).colwise().squaredNorm().minCoeff(&nearest);
        correct += nearest % classes == samples.labels[j] ? 1 : 0;
    }
    return correct / static_cast<double>(samples.count());
}

TEST_CASE("gaussian mixture: of two clouds the nearest mean is right with Phi(distance / 2)") {
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
        CAPTURE(seed);
        const RandomStreams streams(seed);
        const GaussianMixtureOptions options{
            .components = 2, .dimension = 3, .classes = 2, .train = 1, .test = 20000};
        const Eigen::MatrixXf means = gaussian_mixture_means(options, streams);
        const double error =
            upper_tail(static_cast<double>((means.col(0) - means.col(1)).norm()) / 2);

        const Dataset data = gaussian_mixture(options, streams);

        const double deviation = std::sqrt(error * (1 - error) / 20000);
        CHECK(std::abs(nearest_mean_accuracy(data.test, means, 2) - (1 - error)) < 4.5 * deviation);
    }
}

// A sample's error is at least that against its worst rival alone, and at most the sum over all
// rivals.
TEST_CASE("gaussian mixture: by default the nearest mean is as right as its distances allow") {
    const RandomStreams streams(1);
    const GaussianMixtureOptions options;
    const Eigen::MatrixXf means = gaussian_mixture_means(options, streams);
    double least = 0;
    double most = 0;
    for (int k = 0; k < 30; ++k) {
        double worst = 0;
        for (int other = 0; other < 30; ++other) {
            if (other % 10 == k % 10) continue;
            const auto distance = static_cast<double>((means.col(k) - means.col(other)).norm());
            worst = std::max(worst, upper_tail(distance / 2));
            most += upper_tail(distance / 2) / 30;
        }
        least += worst / 30;
    }

    const Dataset data = gaussian_mixture(options, streams);
    const double accuracy = nearest_mean_accuracy(data.test, means, 10);

    CAPTURE(accuracy);
    CHECK(accuracy < 1 - least + 0.01);
    CHECK(accuracy > 1 - most - 0.01);
    CHECK(accuracy > 0.75);  // an MLP reaches 79 % (shared problem of the decentralized methods)
    CHECK(accuracy < 0.85);
}

TEST_CASE("gaussian mixture: means have the scale asked for, samples unit variance about them") {
    const RandomStreams streams(3);
    const GaussianMixtureOptions options{
        .components = 400, .classes = 400, .train = 20000, .test = 0};

    const Eigen::MatrixXf means = gaussian_mixture_means(options, streams);
    const Samples samples = gaussian_mixture(options, streams).train;

    const double entries = 400.0 * 20;
    const double mean_square = static_cast<double>(means.squaredNorm()) / entries;
    CHECK(std::abs(mean_square - 0.5625) < 5 * 0.5625 * std::sqrt(2 / entries));
    double sum = 0;
    double squares = 0;
    for (Eigen::Index j = 0; j < samples.count(); ++j) {
        const Eigen::VectorXd noise =
            (samples.inputs.col(j) - means.col(samples.labels[j])).cast<double>();
        sum += noise.sum();
        squares += noise.squaredNorm();
    }
    CHECK(std::abs(sum / 400000) < 5 / std::sqrt(400000.0));
    CHECK(std::abs(squares / 400000 - 1) < 5 * std::sqrt(2 / 400000.0));
}

TEST_CASE("gaussian mixture: components are equally likely, and labels are component mod classes") {
    const GaussianMixtureOptions options{.components = 5, .classes = 2, .train = 10000, .test = 0};

    const Samples samples = gaussian_mixture(options, RandomStreams(7)).train;

    // Components 0, 2, 4 belong to class 0.
    const auto share = static_cast<double>((samples.labels.array() == 0).count()) / 10000;
    CHECK(std::abs(share - 0.6) < 5 * std::sqrt(0.24 / 10000));
    CHECK(samples.labels.minCoeff() == 0);
    CHECK(samples.labels.maxCoeff() == 1);
}

TEST_CASE("gaussian mixture: a seed gives the same samples, and another seed others") {
    const GaussianMixtureOptions options{.train = 100, .test = 50};
    const Dataset once = gaussian_mixture(options, RandomStreams(1));
    const Dataset again = gaussian_mixture(options, RandomStreams(1));
    const Dataset other = gaussian_mixture(options, RandomStreams(2));
    const Dataset longer = gaussian_mixture({.train = 150, .test = 50}, RandomStreams(1));

    CHECK(once.train.inputs == again.train.inputs);
    CHECK(once.test.labels == again.test.labels);
    CHECK(once.train.inputs != other.train.inputs);
    CHECK(once.train.inputs.leftCols(50) != once.test.inputs);
    CHECK(longer.test.inputs == once.test.inputs);
    CHECK(longer.train.inputs.leftCols(100) == once.train.inputs);
    CHECK(once.classes == 10);
    CHECK(once.train.count() == 100);
    CHECK(once.test.count() == 50);
}

}  // namespace
}  // namespace paceline::gaussian_mixture_test
