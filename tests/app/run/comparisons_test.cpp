// Comparisons of methods on the same machines: by hand, and the laws that they obey.
#include "app/run/comparisons.hpp"

#include <cmath>

#include <doctest/doctest.h>

#include "analysis/measures/csv.hpp"
#include "analysis/trust/misses.hpp"
#include "sim/engine/random.hpp"

namespace paceline::comparisons_test {
namespace {

using doctest::Approx;

Point point(std::vector<std::size_t> choice, const std::string& algorithm, std::size_t number) {
    Point made{std::move(choice), "{}", {}, number};
    made.scenario.algorithm.label = algorithm;
    return made;
}

PointResult with_step(double seconds, std::optional<TimeInterval> interval) {
    PointResult result;
    result.metrics.nodes = 2;
    result.metrics.outcome = "finished";
    result.metrics.step_time_s = seconds;
    result.metrics.interval = std::move(interval);
    return result;
}

TEST_CASE("comparisons: points that differ in the method alone, each against those before it") {
    const Study study{"file.json",
                      "",
                      {{"algorithm", {"a", "b", "c"}}, {"cluster.nodes", {"2", "4"}}},
                      {point({0, 0}, "a", 0), point({0, 1}, "a", 1), point({1, 0}, "b", 2),
                       point({1, 1}, "b", 3), point({2, 0}, "c", 4), point({2, 1}, "c", 5)}};
    const TimeInterval known{0, 0, 0, 0.8, 1.5};
    const std::vector<PointResult> results{with_step(1, known), with_step(2, known),
                                           with_step(4, known), with_step(2, known),
                                           with_step(3, known), with_step(2, std::nullopt)};
    const RanPoints ran(study, results);
    const auto rows = csv_rows(comparisons_csv(ran).value());
    REQUIRE(rows.size() == 5);
    CHECK(rows[1][0] + rows[1][1] + rows[1][2] + rows[1][3] == "2b0a");
    CHECK(rows[1][4] == "0.25");
    CHECK(rows[2][0] + rows[2][2] == "40");
    CHECK(rows[3][0] + rows[3][2] == "42");
    CHECK(rows[4][0] + rows[4][2] == "31");  // c on four nodes has no interval
    const double off = missed_of_ratio * std::hypot(std::log(0.8), std::log(1.5));
    CHECK(std::stod(rows[4][5]) == Approx(std::exp(-off)));
    CHECK(std::stod(rows[4][6]) == Approx(std::exp(off)));

    CHECK(fastest_methods(ran) ==
          "\n"
          "   fastest  next  too close to call  lead of the fastest (ratio)\n"
          "2  a        c     none                       3.00 (2.43 to 3.70)\n"
          "4  a        b     b                          1.00 (0.81 to 1.23)\n");
}

TEST_CASE("comparisons: other machines, other nets and other seeds are not compared") {
    const auto compared = [](const std::vector<Axis>& axes) {
        const Study study{"file.json", "", axes, {point({0, 0}, "a", 0), point({1, 1}, "b", 1)}};
        const TimeInterval known{0, 0, 0, 0.8, 1.5};
        return comparisons_csv({study, {with_step(1, known), with_step(2, known)}}).has_value();
    };
    CHECK(compared({{"algorithm", {"a", "b"}, 0}, {"stop.iterations", {"3", "8"}, 0}}));
    CHECK(compared({{"algorithm.kind", {"a", "b"}}, {"algorithm.period", {"3", "8"}}}));
    CHECK_FALSE(compared({{"algorithm", {"a", "b"}, 0}, {"cluster.nodes", {"3", "8"}, 0}}));
    CHECK_FALSE(compared({{"algorithm", {"a", "b"}, 0}, {"workload.batch", {"3", "8"}, 0}}));
    CHECK_FALSE(compared({{"algorithm", {"a", "b"}}, {"stop.iterations", {"3", "8"}}}));
    CHECK_FALSE(compared({{"algorithm", {"a", "b"}}, {"seed", {"1", "2"}}}));
}

TEST_CASE(
    "comparisons, property: two orders are each other's inverse, and equal draws leave less open") {
    RandomStream stream = RandomStreams(7).stream("draws");
    const auto share = [&] { return static_cast<double>(stream() >> 11U) * 0x1p-53; };
    for (int i = 0; i < 100; ++i) {
        CAPTURE(i);
        const auto drawn = [&] { return std::vector<double>{share() - 0.5, share() - 0.5}; };
        const auto result = [&](std::vector<double> draws) {
            const Circumstances at{share(), share(), 0, false};
            return with_step(0.1 + share(), interval_of(at, Constants::fitted, std::move(draws)));
        };
        const Metrics one = result(drawn()).metrics;
        const Metrics other = result(drawn()).metrics;
        const TimesAsFast there = compare(one, other);
        const TimesAsFast back = compare(other, one);
        CHECK(there.predicted * back.predicted == Approx(1));
        CHECK(there.ends.low * back.ends.high == Approx(1));
        CHECK(there.is_sure() == back.is_sure());

        Metrics same = other;
        same.interval = interval_of({0, 0, 0, false}, Constants::fitted, one.interval->drawn);
        const TimesAsFast shared = compare(one, same);
        same.interval->drawn.clear();
        const TimesAsFast independent = compare(one, same);
        CHECK(shared.ends.low > independent.ends.low);
        CHECK(shared.ends.high < independent.ends.high);
    }
}

}  // namespace
}  // namespace paceline::comparisons_test
