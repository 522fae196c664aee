#include "algorithms/compression/eight_bit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include <Eigen/Core>
#include <doctest/doctest.h>

#include "tests/algorithms/compression/reference_compressors.hpp"

namespace paceline::eight_bit_test {
namespace {

RandomStream no_draws() {
    return RandomStreams(1).stream("test");
}

Eigen::VectorXd by_eight_bits(const Eigen::VectorXd& x, std::int64_t bucket = 0) {
    RandomStream random = no_draws();
    return decoded(make_eight_bit({bucket}), x, random);
}

TEST_CASE("8-bit: levels of [-1, 1.55] are hundredths") {
    const Eigen::VectorXd x{{-1, 1.55, 0.004, 0.006, -0.0149, 0, 0.7451}};

    const Eigen::VectorXd expected{{-1, 1.55, 0, 0.01, -0.01, 0, 0.75}};
    CHECK((by_eight_bits(x) - expected).cwiseAbs().maxCoeff() < 1e-12);
}

TEST_CASE("8-bit, property: an entry is half a level off at most, and zero is kept") {
    for (unsigned seed = 0; seed < 200; ++seed) {
        CAPTURE(seed);
        const double scale = std::ldexp(1.0, static_cast<int>(seed % 80) - 40);
        Eigen::VectorXd x = scale * normal_vector(seed, 3 + seed);
        x(1) = 0;
        if (seed % 3 == 0) x.array() += 5 * scale;  // an interval without zero
        const double range = x.maxCoeff() - x.minCoeff();

        const Eigen::VectorXd c = by_eight_bits(x);

        CHECK((c - x).cwiseAbs().maxCoeff() <= range / 510 * (1 + 1e-9));
        CHECK((c - x).cwiseAbs().maxCoeff() > 0);
        if (x(1) == 0) CHECK(c(1) == 0);
    }
}

TEST_CASE("8-bit, property: a bucket takes 256 neighboring levels at most") {
    for (unsigned seed = 0; seed < 30; ++seed) {
        CAPTURE(seed);
        const Eigen::VectorXd x = normal_vector(seed, 5000);
        const double step = (x.maxCoeff() - x.minCoeff()) / 255;

        const Eigen::VectorXd c = by_eight_bits(x);

        std::set<std::int64_t> levels;
        for (const double v : c) levels.insert(std::llround(v / step));
        CHECK(*levels.rbegin() - *levels.begin() <= 255);
        CHECK(levels.size() > 128);
    }
}

TEST_CASE("8-bit: extremes halfway between two levels stay within 256 levels") {
    const Eigen::VectorXd x{{-253.5, 1.5, 0}};  // a step of 1; halves go to even, -254 and 2

    CHECK(by_eight_bits(x) == Eigen::VectorXd{{-253, 2, 0}});
}

TEST_CASE("8-bit: whole numbers over a range of 255 are sent exactly") {
    for (unsigned seed = 0; seed < 50; ++seed) {
        CAPTURE(seed);
        Eigen::VectorXd whole = (1000 * normal_vector(seed, 100)).array().round();
        const double least = whole.minCoeff();
        whole = whole.cwiseMin(least + 255);
        whole(0) = least;
        whole(1) = least + 255;

        CHECK(by_eight_bits(whole) == whole);
    }
}

TEST_CASE("8-bit, property: buckets have extremes of their own, and equal entries are exact") {
    for (unsigned seed = 0; seed < 50; ++seed) {
        CAPTURE(seed);
        const auto d = static_cast<Eigen::Index>(20 + seed % 9);
        Eigen::VectorXd x = normal_vector(seed, d);
        x.segment(7, 7).setConstant(0.1 + seed);

        const Eigen::VectorXd c = by_eight_bits(x, 7);

        for (Eigen::Index first = 0; first < d; first += 7) {
            const Eigen::Index k = std::min<Eigen::Index>(7, d - first);
            CHECK(c.segment(first, k) == by_eight_bits(x.segment(first, k)));
        }
        CHECK(c.segment(7, 7) == x.segment(7, 7));
        CHECK(c.segment(0, 7) != x.segment(0, 7));
    }
}

TEST_CASE("8-bit: a bucket that is not finite, or whose range is not, stays as it is") {
    const double infinite = std::numeric_limits<double>::infinity();
    const double most = std::numeric_limits<double>::max();

    CHECK(by_eight_bits(Eigen::VectorXd{{1, infinite, 2}})(1) == infinite);
    CHECK(std::isnan(by_eight_bits(Eigen::VectorXd{{1, std::nan(""), 2}})(1)));
    CHECK(by_eight_bits(Eigen::VectorXd{{-most, 1, most}}) == Eigen::VectorXd{{-most, 1, most}});
}

TEST_CASE("8-bit: a tensor takes a byte an entry and two floats a bucket") {
    for (const std::int64_t d : {1, 6, 7, 8, 511, 512, 513, 1025}) {
        CAPTURE(d);
        CHECK(make_eight_bit().bits(tensor_of(d)) == 8 * d + 64);
        std::int64_t buckets = 0;
        for (std::int64_t first = 0; first < d; first += 7) ++buckets;
        CHECK(make_eight_bit({7}).bits(tensor_of(d)) == 8 * d + 64 * buckets);
    }
    CHECK(!make_eight_bit().unbiased);
    CHECK(make_eight_bit().combining == Combining::gathered);
}

}  // namespace
}  // namespace paceline::eight_bit_test
