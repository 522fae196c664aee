#include "sim/numeric/sums.hpp"

#include <cmath>
#include <cstddef>
#include <limits>
#include <random>
#include <span>
#include <vector>

#include <doctest/doctest.h>

namespace paceline {

namespace {

std::vector<double> random_vector(std::size_t n, std::mt19937_64& random) {
    std::vector<double> x(n);
    for (double& v : x) v = std::ldexp(static_cast<double>(random() >> 11), -52) - 1;
    return x;
}

// The order of the header, written out one lane after the other.
double in_32_lanes(const std::vector<double>& terms) {
    std::vector<double> lanes(32, 0.0);
    for (std::size_t l = 0; l < 32; ++l)
        for (std::size_t i = l; i < terms.size(); i += 32) lanes[l] = lanes[l] + terms[i];
    while (lanes.size() > 1) {
        const std::size_t half = lanes.size() / 2;
        std::vector<double> folded;
        for (std::size_t l = 0; l < half; ++l) folded.push_back(lanes[l] + lanes[l + half]);
        lanes = folded;
    }
    return lanes[0];
}

std::vector<double> products(const std::vector<double>& x, const std::vector<double>& y) {
    std::vector<double> all;
    for (std::size_t i = 0; i < x.size(); ++i) all.push_back(x[i] * y[i]);
    return all;
}

}  // namespace

TEST_CASE("sums, property: of any size, they have the bits of 32 lanes folded in halves") {
    std::mt19937_64 random(1);
    for (std::size_t n = 0; n <= 200; ++n) {
        CAPTURE(n);
        const std::vector<double> x = random_vector(n, random);
        const std::vector<double> y = random_vector(n, random);
        REQUIRE(sum(x) == in_32_lanes(x));
        REQUIRE(dot(x, y) == in_32_lanes(products(x, y)));
        REQUIRE(squared_norm(x) == in_32_lanes(products(x, x)));
        REQUIRE(norm(x) == std::sqrt(squared_norm(x)));
        std::vector<double> differences = x;
        for (std::size_t i = 0; i < n; ++i) differences[i] -= y[i];
        REQUIRE(squared_distance(x, y) == squared_norm(differences));
        const std::vector<float> floats(x.begin(), x.end());
        const std::vector<double> widened(floats.begin(), floats.end());
        REQUIRE(sum(floats) == sum(widened));
        REQUIRE(dot(floats, floats) == squared_norm(widened));
    }
}

TEST_CASE("sums, property: errors are those of a sum in long double, to rounding") {
    std::mt19937_64 random(2);
    for (const std::size_t n : {1U, 31U, 32U, 33U, 64U, 100U, 1000U, 12345U}) {
        CAPTURE(n);
        const std::vector<double> x = random_vector(n, random);
        const std::vector<double> y = random_vector(n, random);
        long double total = 0;
        long double product = 0;
        double magnitudes = 0;
        for (std::size_t i = 0; i < n; ++i) {
            total += static_cast<long double>(x[i]);
            product += static_cast<long double>(x[i]) * static_cast<long double>(y[i]);
            magnitudes += std::abs(x[i]);
        }
        const double bound = (static_cast<double>(n) / 32 + 6) * 0x1p-53 * magnitudes;
        CHECK(std::abs(sum(x) - static_cast<double>(total)) <= bound);
        CHECK(std::abs(dot(x, y) - static_cast<double>(product)) <= bound);
    }
}

TEST_CASE("sums: integers are summed exactly, in every place") {
    for (std::size_t n = 0; n <= 200; ++n) {
        std::vector<double> x(n, 1.0);
        REQUIRE(sum(x) == static_cast<double>(n));
        for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<double>(i + 1);
        REQUIRE(squared_norm(x) == static_cast<double>(n * (n + 1) * (2 * n + 1) / 6));
    }
}

TEST_CASE("sums: NaN and infinity in any place reach the result") {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    for (std::size_t n = 1; n <= 70; ++n)
        for (std::size_t i = 0; i < n; ++i) {
            std::vector<double> x(n, 1.0);
            x[i] = infinity;
            REQUIRE(sum(x) == infinity);
            REQUIRE(norm(x) == infinity);
            x[i] = -infinity;
            REQUIRE(sum(x) == -infinity);
            x[i] = std::numeric_limits<double>::quiet_NaN();
            REQUIRE(std::isnan(sum(x)));
            REQUIRE(std::isnan(dot(x, x)));
        }
}

TEST_CASE("sums: a dot product and a distance need vectors of one length") {
    const std::vector<double> x(3);
    CHECK_THROWS(dot(x, std::span(x).first(2)));
    CHECK_THROWS(squared_distance(x, std::span(x).first(2)));
}

}  // namespace paceline
