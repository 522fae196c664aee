#include "sim/compute/node_speeds.hpp"

#include <algorithm>
#include <cmath>

#include <doctest/doctest.h>

namespace paceline::sim_node_speeds_test {
namespace {

using doctest::Approx;

struct Moments {
    double mean = 0;
    double deviation = 0;
};

template <class Value>
Moments moments(int count, const Value& value) {
    double sum = 0;
    double squares = 0;
    for (int i = 0; i < count; ++i) {
        sum += value(i);
        squares += value(i) * value(i);
    }
    const double mean = sum / count;
    return {mean, std::sqrt(squares / count - mean * mean)};
}

TEST_CASE("node speeds, property: log-normal speeds have logarithms of mean 0") {
    for (unsigned seed = 0; seed < 20; ++seed) {
        CAPTURE(seed);
        constexpr int nodes = 4000;
        constexpr double sigma = 0.3;
        const std::vector<double> speeds = log_normal_speeds(nodes, sigma, RandomStreams(seed));

        const Moments of =
            moments(nodes, [&](int i) { return std::log(speeds[static_cast<std::size_t>(i)]); });
        CHECK(std::abs(of.mean) < 5 * sigma / std::sqrt(nodes));
        CHECK(of.deviation == Approx(sigma).epsilon(0.07));
    }
}

TEST_CASE("node speeds, property: uniform speeds fill their range") {
    for (unsigned seed = 0; seed < 20; ++seed) {
        CAPTURE(seed);
        constexpr int nodes = 4000;
        const std::vector<double> speeds = uniform_speeds(nodes, 0.5, 1.5, RandomStreams(seed));

        const Moments of =
            moments(nodes, [&](int i) { return speeds[static_cast<std::size_t>(i)]; });
        CHECK(std::ranges::min(speeds) >= 0.5);
        CHECK(std::ranges::max(speeds) < 1.5);
        CHECK(of.mean == Approx(1).epsilon(5 / std::sqrt(12.0 * nodes)));
        CHECK(of.deviation == Approx(1 / std::sqrt(12)).epsilon(0.05));
    }
}

TEST_CASE("node speeds: a node has the same draw whatever the number of nodes") {
    const RandomStreams streams(7);
    const std::vector<double> few = log_normal_speeds(4, 0.5, streams);
    const std::vector<double> many = log_normal_speeds(40, 0.5, streams);

    CHECK(std::equal(few.begin(), few.end(), many.begin()));
}

TEST_CASE("node speeds, property: the share of slow nodes is exact, and its members are drawn") {
    std::vector<int> slow_seeds(10);
    for (unsigned seed = 0; seed < 400; ++seed) {
        CAPTURE(seed);
        const std::vector<double> speeds = two_class_speeds(10, 0.25, 0.5, RandomStreams(seed));

        CHECK(std::ranges::count(speeds, 0.5) == 3);  // 2.5, rounded
        CHECK(std::ranges::count(speeds, 1.0) == 7);
        for (std::size_t i = 0; i < 10; ++i) slow_seeds[i] += speeds[i] == 0.5 ? 1 : 0;
    }
    for (const int count : slow_seeds) CHECK(std::abs(count - 120) < 5 * std::sqrt(400 * 0.21));
}

TEST_CASE("node speeds: a gradient takes the inverse of its node's speed, on all its workers") {
    const StepFactor law = by_speed({1, 2, 0.5}, MachineSizes(2));

    CHECK(law(1, 0) == 1);
    CHECK(law(2, 5) == 0.5);
    CHECK(law(3, 5) == 0.5);
    CHECK(law(4, 9) == 2);
}

constexpr Jitter laws[]{{JitterLaw::normal, 0.2},
                        {JitterLaw::log_normal, 0.4},
                        {JitterLaw::exponential, 0.5},
                        {JitterLaw::pareto, 6}};

// Returns the standard deviation of the factor, from the laws in the header.
double mean_of(const Jitter& one) {
    if (one.law == JitterLaw::exponential) return 1 + one.parameter;
    return one.law == JitterLaw::pareto ? one.parameter / (one.parameter - 1) : 1;
}

double deviation_of(const Jitter& one) {
    const double p = one.parameter;
    switch (one.law) {
        case JitterLaw::normal:
        case JitterLaw::exponential:
            return p;
        case JitterLaw::log_normal:
            return std::sqrt(std::exp(p * p) - 1);
        case JitterLaw::pareto:
            return std::sqrt(p / ((p - 1) * (p - 1) * (p - 2)));
    }
    return 0;
}

TEST_CASE("jitter, property: factors have the stated mean and deviation") {
    for (const Jitter& one : laws)
        for (unsigned seed = 0; seed < 5; ++seed) {
            CAPTURE(static_cast<int>(one.law));
            CAPTURE(seed);
            const StepFactor law = jitter(one, RandomStreams(seed));
            constexpr int draws = 20'000;

            const Moments of = moments(draws, [&](int i) { return law(i % 10, i / 10); });
            CHECK(std::abs(of.mean - mean_of(one)) < 5 * deviation_of(one) / std::sqrt(draws));
            CHECK(of.deviation == Approx(deviation_of(one)).epsilon(0.15));
        }
}

TEST_CASE("jitter, property: no factor is 0, and exponential and Pareto factors are at least 1") {
    for (const Jitter& one : {Jitter{JitterLaw::normal, 1}, laws[1], laws[2], laws[3]}) {
        CAPTURE(static_cast<int>(one.law));
        const StepFactor law = jitter(one, RandomStreams(3));
        const bool from_one = one.law == JitterLaw::exponential || one.law == JitterLaw::pareto;
        for (int k = 0; k < 5000; ++k) {
            CHECK(law(0, k) > (from_one ? 1 - 1e-12 : 0));
            if (one.law == JitterLaw::normal) CHECK(law(0, k) < 2);
        }
    }
}

TEST_CASE("jitter: the mean of the longest of n exponential factors follows a harmonic number") {
    constexpr int n = 16;
    constexpr int steps = 5000;
    const StepFactor law = jitter({JitterLaw::exponential, 0.5}, RandomStreams(1));
    double harmonic = 0;
    double variance = 0;
    for (int i = 1; i <= n; ++i) {
        harmonic += 1.0 / i;
        variance += 0.25 / (i * i);
    }
    double longest = 0;
    for (int k = 0; k < steps; ++k) {
        double most = 0;
        for (int rank = 0; rank < n; ++rank) most = std::max(most, law(rank, k));
        longest += most / steps;
    }

    CHECK(std::abs(longest - (1 + 0.5 * harmonic)) < 5 * std::sqrt(variance / steps));
}

}  // namespace
}  // namespace paceline::sim_node_speeds_test
