#include "algorithms/optimizers/rate_schedule.hpp"

#include <cmath>
#include <numbers>

#include <doctest/doctest.h>

namespace paceline::algorithms_schedule_test {
namespace {

using doctest::Approx;

constexpr std::int64_t steps = 1000;

TEST_CASE("schedule: a constant one is the learning rate from the first step to the last") {
    const Schedule schedule{.learning_rate = 0.25};

    for (const std::int64_t k : {0, 1, 500, 999})
        CHECK(learning_rate_at(schedule, k, steps, 64) == 0.25);
}

TEST_CASE("schedule: the warm-up rises by equal parts and is over at the end of its share") {
    for (const Decay decay : {Decay::constant, Decay::step, Decay::cosine}) {
        const Schedule schedule{
            .learning_rate = 0.5, .decay = decay, .warm_up = 0.1, .milestones = {0.5}};

        for (const std::int64_t k : {0, 1, 49, 98, 99}) {
            CAPTURE(k);
            CHECK(learning_rate_at(schedule, k, steps, 1) ==
                  Approx(0.5 * static_cast<double>(k + 1) / 100).epsilon(1e-12));
        }
        CHECK(learning_rate_at(schedule, 100, steps, 1) == Approx(0.5).epsilon(1e-12));
    }
}

TEST_CASE("schedule: a milestone counts from its step on, and each multiplies once more") {
    const Schedule schedule{
        .learning_rate = 8, .decay = Decay::step, .milestones = {0.5, 0.75}, .factor = 0.25};

    CHECK(learning_rate_at(schedule, 0, steps, 1) == 8);
    CHECK(learning_rate_at(schedule, 499, steps, 1) == 8);
    CHECK(learning_rate_at(schedule, 500, steps, 1) == 2);
    CHECK(learning_rate_at(schedule, 749, steps, 1) == 2);
    CHECK(learning_rate_at(schedule, 750, steps, 1) == 0.5);
    CHECK(learning_rate_at(schedule, 999, steps, 1) == 0.5);
}

TEST_CASE("schedule: the cosine begins at the rate, has half of it midway, ends just above zero") {
    const Schedule schedule{.learning_rate = 0.4, .decay = Decay::cosine};

    const double last = 0.2 * (1 + std::cos(std::numbers::pi * 999 / 1000));
    CHECK(learning_rate_at(schedule, 0, steps, 1) == 0.4);
    CHECK(learning_rate_at(schedule, 500, steps, 1) == Approx(0.2).epsilon(1e-12));
    CHECK(learning_rate_at(schedule, 999, steps, 1) == Approx(last).epsilon(1e-9));
    CHECK(last < 1e-6);
}

TEST_CASE("schedule: after a warm-up the cosine goes over the rest of the run") {
    const Schedule schedule{.learning_rate = 0.4, .decay = Decay::cosine, .warm_up = 0.2};

    CHECK(learning_rate_at(schedule, 600, steps, 1) == Approx(0.2).epsilon(1e-12));
    for (const std::int64_t k : {200, 300, 999}) {
        CAPTURE(k);
        const double done = static_cast<double>(k - 200) / 800;
        CHECK(learning_rate_at(schedule, k, steps, 1) ==
              Approx(0.2 * (1 + std::cos(std::numbers::pi * done))).epsilon(1e-9));
    }
}

TEST_CASE("schedule: with a reference batch the rate is in proportion to the batch, else not") {
    const Schedule scaled{.learning_rate = 0.1, .decay = Decay::cosine, .reference_batch = 256};
    const Schedule small{.learning_rate = 0.1, .decay = Decay::cosine, .reference_batch = 8};
    const Schedule plain{.learning_rate = 0.1, .decay = Decay::cosine};

    for (const std::int64_t k : {0, 700}) {
        const double rate = learning_rate_at(plain, k, steps, 8192);
        CHECK(learning_rate_at(scaled, k, steps, 256) == Approx(rate).epsilon(1e-12));
        CHECK(learning_rate_at(scaled, k, steps, 8192) == Approx(32 * rate).epsilon(1e-12));
        CHECK(learning_rate_at(scaled, k, steps, 64) == Approx(rate / 4).epsilon(1e-12));
        CHECK(learning_rate_at(small, k, steps, 64) == Approx(rate * 8).epsilon(1e-12));
        CHECK(learning_rate_at(plain, k, steps, 64) == rate);
    }
}

TEST_CASE("schedule: from the end on the rate stays that of the last step") {
    for (const Decay decay : {Decay::constant, Decay::step, Decay::cosine}) {
        const Schedule schedule{
            .learning_rate = 1, .decay = decay, .warm_up = 0.1, .milestones = {0.9}};
        const double last = learning_rate_at(schedule, 999, steps, 1);

        for (const std::int64_t k : {1000, 1001, 1'000'000'000})
            CHECK(learning_rate_at(schedule, k, steps, 1) == last);
    }
}

TEST_CASE("schedule, property: shares that are whole numbers of steps are just those steps") {
    for (int i = 1; i < 100; ++i) {
        CAPTURE(i);
        const Schedule milestone{
            .learning_rate = 1, .decay = Decay::step, .milestones = {i / 100.0}};
        const Schedule warm_up{.learning_rate = 1, .warm_up = i / 100.0};

        CHECK(learning_rate_at(milestone, i - 1, 100, 1) == 1);
        CHECK(learning_rate_at(milestone, i, 100, 1) == 0.1);
        CHECK(learning_rate_at(warm_up, 0, 100, 1) == Approx(1.0 / i).epsilon(1e-12));
    }
}

TEST_CASE("schedule, property: no rate is zero or not finite, in runs of any length") {
    for (const Decay decay : {Decay::constant, Decay::step, Decay::cosine})
        for (const double warm_up : {0.0, 0.05, 0.5, 0.99})
            for (const std::int64_t length : {1, 2, 3, 7, 100})
                for (std::int64_t k = 0; k <= length; ++k) {
                    CAPTURE(warm_up);
                    CAPTURE(length);
                    CAPTURE(k);
                    const Schedule schedule{.learning_rate = 0.3,
                                            .decay = decay,
                                            .warm_up = warm_up,
                                            .milestones = {0.1, 0.5, 1}};
                    const double rate = learning_rate_at(schedule, k, length, 1);

                    CHECK(rate > 0);
                    CHECK(rate <= 0.3);
                }
}

}  // namespace
}  // namespace paceline::algorithms_schedule_test
