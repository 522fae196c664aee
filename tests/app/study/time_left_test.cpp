#include "app/study/time_left.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <doctest/doctest.h>

namespace paceline::time_left_test {
namespace {

TEST_CASE("time left: it converges if all runs cost the same factor more than expected") {
    for (unsigned seed = 0; seed < 50; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 random(seed);
        const double factor = std::exp(std::uniform_real_distribution(-2.0, 2.0)(random));
        std::vector<double> runs(40);
        TimeLeft left;
        double rest = 0;
        for (double& expected : runs) {
            expected = std::exp(std::uniform_real_distribution(0.0, 4.0)(random));
            left.expects(expected);
            rest += factor * expected;
        }
        const double all = rest;
        for (const double expected : runs) {
            left.finished(expected, factor * expected);
            rest -= factor * expected;
            if (all - rest < 0.1 * all) continue;  // skips the first tenth of the study
            CHECK(left.seconds({}, 1) == doctest::Approx(rest).epsilon(0.1).scale(all));
            CHECK(left.seconds({}, 4) == doctest::Approx(left.seconds({}, 1) / 4));
        }
        CHECK(left.seconds({}, 1) == doctest::Approx(0).scale(all));
    }
}

TEST_CASE("time left: where nothing remains it is 0, and it is never less or not a number") {
    CHECK(TimeLeft().seconds({}, 1) == 0);
    TimeLeft kept;
    kept.finished(3, 5);  // not expected: of another process
    CHECK(kept.seconds({}, 0) == 0);
    std::mt19937_64 random(3);
    std::uniform_real_distribution<> some(-1, 10);
    for (int repetition = 0; repetition < 1000; ++repetition) {
        const auto seconds = [&] { return std::max(0.0, some(random)); };
        TimeLeft left;
        for (int i = 0; i < 3; ++i) left.expects(seconds());
        left.finished(seconds(), seconds());
        const UnderWay run{seconds(), std::min(1.0, seconds()), seconds()};
        const double rest = left.seconds({&run, 1}, 2);
        CHECK(std::isfinite(rest));
        CHECK(rest >= 0);
    }
}

TEST_CASE("time left: before anything has run it is what was expected") {
    TimeLeft left;
    left.expects(30);
    left.expects(10);

    CHECK(left.seconds({}, 1) == doctest::Approx(40));
    CHECK(left.seconds({}, 2) == doctest::Approx(20));
}

TEST_CASE("time left: a run under way counts by the share of its simulated time") {
    TimeLeft left;
    left.expects(1000);

    const UnderWay half{1000, 0.5, 2000};
    const UnderWay unknown{1000, 0, 2000};

    CHECK(left.seconds({&half, 1}, 1) == doctest::Approx(2000).epsilon(0.01));
    CHECK(left.seconds({&unknown, 1}, 1) == doctest::Approx(1000));
}

}  // namespace
}  // namespace paceline::time_left_test
