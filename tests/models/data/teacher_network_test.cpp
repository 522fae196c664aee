#include "models/data/teacher_network.hpp"

#include <cmath>

#include <Eigen/Dense>
#include <doctest/doctest.h>

namespace paceline::teacher_network_test {
namespace {

TEST_CASE("teacher network: inputs are standard normal") {
    const Samples samples =
        teacher_network({.dimension = 4, .train = 20000}, RandomStreams(1)).train;

    const Eigen::MatrixXd x = samples.inputs.cast<double>();
    const Eigen::MatrixXd covariance = x * x.transpose() / 20000;
    CHECK(x.rowwise().mean().cwiseAbs().maxCoeff() < 5 / std::sqrt(20000.0));
    CHECK((covariance - Eigen::MatrixXd::Identity(4, 4)).cwiseAbs().maxCoeff() <
          5 * std::sqrt(2 / 20000.0));
}

TEST_CASE(
    "teacher network: the share of noised labels is what was asked for, inputs are the same") {
    TeacherNetworkOptions options;
    const Dataset clean = teacher_network(options, RandomStreams(1));
    options.label_noise = 0.2;
    const Dataset noised = teacher_network(options, RandomStreams(1));

    CHECK(noised.train.inputs == clean.train.inputs);
    CHECK(noised.test.inputs == clean.test.inputs);
    const auto check_share = [](const Samples& a, const Samples& b) {
        const auto count = static_cast<double>(a.count());
        const double share =
            static_cast<double>((a.labels.array() != b.labels.array()).count()) / count;
        CHECK(std::abs(share - 0.2) < 5 * std::sqrt(0.16 / count));
    };
    check_share(noised.train, clean.train);
    check_share(noised.test, clean.test);
    CHECK(noised.train.labels.minCoeff() >= 0);
    CHECK(noised.train.labels.maxCoeff() < 10);
}

// With two classes and one hidden unit, the boundary is the plane where that unit is 0, whatever
// its gain. A point and its mirror image belong to different classes, and a linear model fits.
TEST_CASE("teacher network: one hidden unit divides two classes by a plane through the origin") {
    const TeacherNetworkOptions options{
        .dimension = 3, .hidden = 1, .classes = 2, .train = 20000, .test = 2000};

    const Dataset data = teacher_network(options, RandomStreams(5));

    // E[x sign(w . x)] points along w.
    const Eigen::VectorXf signs = (2 * data.train.labels.array() - 1).cast<float>();
    const Eigen::VectorXf direction = data.train.inputs * signs;
    const Eigen::VectorXf sides = data.test.inputs.transpose() * direction;
    const auto right = ((sides.array() > 0) == (data.test.labels.array() == 1)).count();
    CHECK(right > 0.98 * 2000);
}

TEST_CASE("teacher network: by default every class is there and none prevails") {
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
        CAPTURE(seed);
        const Samples samples =
            teacher_network({.train = 4000, .test = 0}, RandomStreams(seed)).train;
        for (int label = 0; label < 10; ++label) {
            CAPTURE(label);
            const auto count = (samples.labels.array() == label).count();
            CHECK(count > 0.01 * 4000);
            CHECK(count < 0.35 * 4000);
        }
    }
}

TEST_CASE("teacher network: a seed gives the same samples, and another seed others") {
    const TeacherNetworkOptions options{.label_noise = 0.1, .train = 100, .test = 10};
    const Dataset once = teacher_network(options, RandomStreams(1));
    const Dataset again = teacher_network(options, RandomStreams(1));
    const Dataset other = teacher_network(options, RandomStreams(2));

    CHECK(once.train.inputs == again.train.inputs);
    CHECK(once.train.labels == again.train.labels);
    CHECK(once.train.labels != other.train.labels);
    CHECK(once.train.inputs.leftCols(10) != once.test.inputs);
}

}  // namespace
}  // namespace paceline::teacher_network_test
