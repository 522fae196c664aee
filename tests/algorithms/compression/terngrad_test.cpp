#include "algorithms/compression/terngrad.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include <Eigen/Core>
#include <doctest/doctest.h>

#include "tests/algorithms/compression/reference_compressors.hpp"
#include "tests/algorithms/runtime/training_run.hpp"

namespace paceline::terngrad_test {
namespace {

std::span<double> whole(Eigen::VectorXd& x) {
    return {x.data(), static_cast<std::size_t>(x.size())};
}

std::span<const double> entries(const Eigen::VectorXd& x) {
    return {x.data(), static_cast<std::size_t>(x.size())};
}

// x, clipped at 2.5 standard deviations of the population.
Eigen::ArrayXd clipped(const Eigen::VectorXd& x) {
    const double sigma = std::sqrt((x.array() - x.mean()).square().mean());
    return x.array().min(2.5 * sigma).max(-2.5 * sigma);
}

TEST_CASE("shared TernGrad, property: a worker's scaler is its largest clipped entry") {
    const Compressor shared = make_shared_terngrad();
    for (unsigned seed = 0; seed < 50; ++seed) {
        CAPTURE(seed);
        const Eigen::VectorXd x = normal_vector(seed, 5 + 7 * seed);

        CHECK(shared.scaler(entries(x)) ==
              doctest::Approx(clipped(x).abs().maxCoeff()).epsilon(1e-12));
    }
    CHECK(shared.scaler({}) == 0);
    CHECK(shared.scaler(entries(Eigen::VectorXd::Zero(3))) == 0);
    CHECK(shared.scaler(entries(Eigen::VectorXd::Constant(3, -2))) == 2);
}

TEST_CASE("shared TernGrad, property: messages of n workers add up to integers of -n to n") {
    const Compressor shared = make_shared_terngrad();
    double greatest = 0;
    for (unsigned seed = 0; seed < 50; ++seed) {
        CAPTURE(seed);
        const int n = 2 + static_cast<int>(seed % 7);
        RandomStream random = RandomStreams(seed).stream("test");
        std::vector<Eigen::VectorXd> all;
        double scaler = 0;
        for (int i = 0; i < n; ++i) {
            all.push_back((1 + i) * normal_vector(100 * seed + static_cast<unsigned>(i), 40));
            scaler = std::max(scaler, shared.scaler(entries(all.back())));
        }
        Eigen::ArrayXd sum = Eigen::ArrayXd::Zero(40);
        for (Eigen::VectorXd& x : all) {
            shared.apply_scaled(whole(x), scaler, random);
            REQUIRE((x.array() == 0 || x.array().abs() == scaler).all());
            sum += x.array() / scaler;
        }

        CHECK((sum == sum.round()).all());
        CHECK(sum.abs().maxCoeff() <= n);
        greatest = std::max(greatest, sum.abs().maxCoeff());
    }
    CHECK(greatest > 2);
}

TEST_CASE("shared TernGrad, property: it is unbiased at any larger scaler, with its variance") {
    const Compressor shared = make_shared_terngrad();
    constexpr int draws = 4000;
    for (unsigned seed = 0; seed < 5; ++seed)
        for (const double factor : {1.0, 1.7, 4.0}) {
            CAPTURE(seed);
            CAPTURE(factor);
            const Eigen::VectorXd x = normal_vector(seed, 60);
            const double scaler = factor * shared.scaler(entries(x));
            RandomStream random = RandomStreams(seed).stream("test");
            Eigen::ArrayXd mean = Eigen::ArrayXd::Zero(60);
            double squares = 0;
            for (int i = 0; i < draws; ++i) {
                Eigen::VectorXd c = x;
                shared.apply_scaled(whole(c), scaler, random);
                mean += c.array() / draws;
                squares += (c.array() - clipped(x)).square().sum() / draws;
            }

            const Eigen::ArrayXd variance = clipped(x).abs() * (scaler - clipped(x).abs()).max(0);
            CHECK(((mean - clipped(x)).abs() <= 5 * (variance / draws).sqrt() + 12 * scaler / draws)
                      .all());
            CHECK(squares == doctest::Approx(variance.sum()).epsilon(0.03));
        }
}

TEST_CASE("shared TernGrad: with a worker's own scaler it draws what TernGrad draws") {
    const Compressor shared = make_shared_terngrad();
    for (unsigned seed = 0; seed < 20; ++seed) {
        CAPTURE(seed);
        Eigen::VectorXd x = normal_vector(seed, 30);
        RandomStream random = RandomStreams(seed).stream("test");
        RandomStream same = RandomStreams(seed).stream("test");
        const Eigen::VectorXd own = decoded(make_terngrad(), x, random);

        shared.apply_scaled(whole(x), shared.scaler(entries(x)), same);

        CHECK(x == own);
    }
}

TEST_CASE("shared TernGrad: a sum of n messages names 2 n + 1 values an entry") {
    const Compressor shared = make_shared_terngrad();
    CHECK(shared.combining == Combining::summable);
    for (int n = 1; n <= 300; ++n) {
        CAPTURE(n);
        std::int64_t bits = 0;
        while ((std::int64_t{1} << bits) < 2 * n + 1) ++bits;
        CHECK(shared.bits_of_sum(tensor_of(13), n) == 13 * bits + 32);
    }
    CHECK(shared.bits(tensor_of(13)) == shared.bits_of_sum(tensor_of(13), 1));
    const Layout layout({{"a", {5}}, {"b", {3, 3}}});
    CHECK(sum_bytes(shared, layout, 128).count == (9 * 14 + 64 + 7) / 8);
    CHECK(sum_bytes(make_terngrad(), layout, 128) == message_bytes(make_terngrad(), layout));
}

}  // namespace
}  // namespace paceline::terngrad_test
