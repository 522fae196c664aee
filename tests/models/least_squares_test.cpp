#include "models/least_squares.hpp"

#include <boost/random/uniform_int_distribution.hpp>
#include <doctest/doctest.h>

#include "models/data/normal.hpp"
#include "models/nets/linear_regression.hpp"

namespace paceline::least_squares_test {
namespace {

Samples some_samples(int features, int count, RandomStream& stream) {
    Samples samples;
    samples.inputs.resize(features, count);
    fill_normal(samples.inputs, stream);
    Eigen::MatrixXf targets(1, count);
    fill_normal(targets, stream);
    samples.targets = 3 * targets.row(0).transpose().array() + 1;
    return samples;
}

// Shards of random sizes with at least one sample each; some samples are in none.
std::vector<std::vector<int>> some_shards(int count, int shards, RandomStream& stream) {
    std::vector<std::vector<int>> all(static_cast<std::size_t>(shards));
    boost::random::uniform_int_distribution<std::size_t> any(0, all.size());
    for (int i = 0; i < count; ++i) {
        const auto fixed = static_cast<std::size_t>(i);
        const std::size_t shard = fixed < all.size() ? fixed : any(stream);
        if (shard < all.size()) all[shard].push_back(i);
    }
    return all;
}

// The gradient of f at x, computed by the net that trains.
Eigen::VectorXd gradient(const Samples& samples, const std::vector<std::vector<int>>& shards,
                         bool bias, double decay, const Eigen::VectorXd& x) {
    const auto net = make_linear_regression<double>({samples.inputs.rows(), bias});
    Eigen::VectorXd sum = decay * x;
    for (const std::vector<int>& shard : shards) {
        Samples batch;
        Eigen::VectorXd g;
        gather(samples, shard, batch);
        (void)net->gradient(x, batch, g);
        sum += g / static_cast<double>(shards.size());
    }
    return sum;
}

TEST_CASE("least squares: two points on a line, by hand") {
    Samples samples;
    samples.inputs = Eigen::RowVector2f(1, 3);
    samples.targets = Eigen::Vector2f(4, 8);

    const Eigen::VectorXd line = least_squares(samples, {{0, 1}}, true, 0);
    const Eigen::VectorXd through_zero = least_squares(samples, {{0, 1}}, false, 0);
    const Eigen::VectorXd decayed = least_squares(samples, {{0, 1}}, false, 5);

    CHECK((line - Eigen::Vector2d(2, 2)).norm() < 1e-12);
    REQUIRE(through_zero.size() == 1);
    CHECK(through_zero(0) == doctest::Approx(28.0 / 10).epsilon(1e-12));  // (4 + 24) / (1 + 9)
    CHECK(decayed(0) == doctest::Approx(14.0 / (5 + 5)).epsilon(1e-12));
}

TEST_CASE("least squares: shards weigh alike, whatever their sizes") {
    Samples samples;
    samples.inputs = Eigen::RowVector4f(1, 1, 1, 1);
    samples.targets = Eigen::Vector4f(0, 0, 0, 6);

    const Eigen::VectorXd x = least_squares(samples, {{0, 1, 2}, {3}}, false, 0);

    CHECK(x(0) == doctest::Approx(3).epsilon(1e-12));
}

TEST_CASE("least squares, property: the gradient of the mean of the shards is zero there") {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        CAPTURE(seed);
        RandomStream stream = RandomStreams(seed).stream("test", 0);
        const int features = 1 + static_cast<int>(seed % 7);
        const bool bias = seed % 2 == 0;
        const double decay = seed % 3 == 0 ? 0.0 : 0.25 * static_cast<double>(seed % 5);
        const Samples samples = some_samples(features, 60, stream);
        const auto shards = some_shards(60, 1 + static_cast<int>(seed % 4), stream);

        const Eigen::VectorXd x = least_squares(samples, shards, bias, decay);

        REQUIRE(x.size() == features + (bias ? 1 : 0));
        CHECK(gradient(samples, shards, bias, decay, x).norm() < 1e-12);
        const Eigen::VectorXd beside = x + Eigen::VectorXd::Constant(x.size(), 0.1);
        CHECK(gradient(samples, shards, bias, decay, beside).norm() > 1e-3);
    }
}

TEST_CASE("least squares: of many minima it finds the shortest, where descent from zero ends") {
    Samples samples;
    samples.inputs = Eigen::Vector2f(3, 4);
    samples.targets = Eigen::VectorXf::Constant(1, 10);

    const Eigen::VectorXd x = least_squares(samples, {{0}}, false, 0);

    CHECK((x - Eigen::Vector2d(1.2, 1.6)).norm() < 1e-12);  // 10 (3, 4) / 25
}

TEST_CASE("least squares, property: with fewer samples than parameters descent ends there") {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        CAPTURE(seed);
        RandomStream stream = RandomStreams(seed).stream("test", 1);
        const Samples samples = some_samples(12, 6, stream);
        const std::vector<std::vector<int>> shards{{0, 1}, {2, 3, 4, 5}};

        const Eigen::VectorXd minimum = least_squares(samples, shards, true, 0);

        Eigen::VectorXd x = Eigen::VectorXd::Zero(13);
        for (int k = 0; k < 4000; ++k) x -= 0.1 * gradient(samples, shards, true, 0, x);
        CHECK((x - minimum).norm() < 1e-6 * minimum.norm());
    }
}

}  // namespace
}  // namespace paceline::least_squares_test
