// Intervals of times: the laws that they obey whatever the table says, and two ends by hand.
#include "analysis/trust/time_interval.hpp"

#include <cmath>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "analysis/trust/misses.hpp"
#include "sim/engine/random.hpp"

namespace paceline::time_interval_test {
namespace {

using doctest::Approx;

constexpr double z = 1.6448536269514722;  // from a table of the normal distribution

double share(RandomStream& stream) {
    return static_cast<double>(stream() >> 11U) * 0x1p-53;
}

TEST_CASE("time interval, property: contains the prediction, and grows with each share") {
    RandomStream stream = RandomStreams(3).stream("shares");
    for (int i = 0; i < 200; ++i) {
        const Circumstances at{share(stream), share(stream), share(stream) / 2, i % 2 == 0};
        const double s = share(stream);
        for (const Constants constants : {Constants::stated, Constants::fitted}) {
            CAPTURE(i);
            const TimeInterval here = interval_of(at, constants, {s});
            CHECK(here.low < 1);
            CHECK(here.high > 1);
            for (double Circumstances::* one :
                 {&Circumstances::exposed, &Circumstances::hidden, &Circumstances::unstated}) {
                Circumstances more = at;
                more.*one += 0.1;
                const TimeInterval there = interval_of(more, constants, {s});
                CHECK(there.low <= here.low);
                CHECK(there.high >= here.high);
            }
            const TimeInterval there = interval_of(at, constants, {s + 0.1});
            CHECK(there.low < here.low);
            CHECK(there.high > here.high);
        }
    }
}

TEST_CASE("time interval: errors of model and constants add as independent ones do") {
    const Circumstances at{0.4, 0.2, 0.1, false};
    for (const Constants constants : {Constants::stated, Constants::fitted}) {
        const double rise = std::log(interval_of(at, constants).high);
        const double fall = std::log(interval_of(at, constants).low);
        const TimeInterval both = interval_of(at, constants, {0.3, -0.3});
        CHECK(std::log(both.high) == Approx(std::sqrt(rise * rise + 0.09 * z * z)));
        CHECK(std::log(both.low) == Approx(-std::sqrt(fall * fall + 0.09 * z * z)));
    }
}

TEST_CASE("time interval: without a network, what is left is the constant part") {
    const MissedSide& rise = missed_with_stated.rise;
    CHECK(std::log(interval_of({}, Constants::stated).high) ==
          Approx(rise.quantile * rise.slopes[0]));
}

TEST_CASE("time interval: nothing is less sure than what is unlike all") {
    const TimeInterval widest = interval_of(unlike_all, Constants::stated);
    RandomStream stream = RandomStreams(4).stream("shares");
    for (int i = 0; i < 100; ++i) {
        const TimeInterval here =
            interval_of({share(stream), share(stream), most_unstated * share(stream), i % 2 == 0},
                        Constants::stated);
        CHECK(here.high <= widest.high);
        CHECK(here.low >= widest.low);
    }
}

TEST_CASE("time interval: a ratio misses a share of what the models do, and what draws differ in") {
    const Circumstances at{0.4, 0.2, 0.1, false};
    const Circumstances other{0.7, 0, 0.3, false};
    const TimeInterval one = interval_of(at, Constants::fitted);
    const TimeInterval two = interval_of(other, Constants::fitted);
    const double model = std::log(interval_of_ratio(one, two).high);
    CHECK(model == Approx(missed_of_ratio * std::hypot(std::log(one.high), std::log(two.low))));

    const auto drawn = [&](std::vector<double> mine, std::vector<double> theirs) {
        return std::log(interval_of_ratio(interval_of(at, Constants::fitted, std::move(mine)),
                                          interval_of(other, Constants::fitted, std::move(theirs)))
                            .high);
    };
    CHECK(drawn({0.2, -0.3}, {0.2, -0.3}) == Approx(model));  // in common
    CHECK(drawn({0.2, -0.2}, {-0.1, 0.1}) == Approx(std::hypot(model, 0.3 * z)));
    CHECK(drawn({0.3, -0.3}, {0.4}) == Approx(std::hypot(model, 0.5 * z)));  // other draws
}

}  // namespace
}  // namespace paceline::time_interval_test
