// The predicted cost of a run whose steps differ: stages follow each other, and within a stage the
// steps repeat with a period.
#include <chrono>
#include <random>

#include <doctest/doctest.h>

#include "app/run/run_point.hpp"
#include "tests/app/studies/training_study.hpp"

namespace paceline::periodic_methods_test {
namespace {

struct Periodic {
    std::int64_t period;
    std::int64_t first_stage;  // number of steps in it

    // Returns the step's place in its stage's period: only the remainder matters.
    [[nodiscard]] std::int64_t place(std::int64_t k) const {
        return (k < first_stage ? k : k - first_stage) % period;
    }
    [[nodiscard]] std::int64_t messages(std::int64_t k) const {
        return 3 + 7 * place(k) + (k < first_stage ? 0 : 1000);
    }
    [[nodiscard]] Duration time(std::int64_t k) const {
        return Duration{1'000'000 * messages(k) * messages(k)};
    }
    [[nodiscard]] Scenario scenario(const TrainingStudy& study, std::int64_t steps) const {
        Scenario scenario = study.scenario({"stop.iterations=" + std::to_string(steps)});
        const Periodic self = *this;
        scenario.algorithm.period = period;
        scenario.algorithm.stage = [self](std::int64_t k, double) {
            return k < self.first_stage ? 0.0 : 1.0;
        };
        scenario.algorithm.model_step = [self](const StepModelInput&, std::int64_t k, double) {
            return std::optional(self.time(k));
        };
        scenario.algorithm.messages = [self](const StepModelInput&, std::int64_t k) {
            return self.messages(k);
        };
        return scenario;
    }
};

TEST_CASE("periodic methods: model step time and messages are those of all steps, one by one") {
    const TrainingStudy study;
    for (unsigned seed = 0; seed < 60; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 rng(seed);
        const Periodic method{static_cast<std::int64_t>(1 + rng() % 9),
                              static_cast<std::int64_t>(rng() % 30)};
        const auto steps = static_cast<std::int64_t>(1 + rng() % 80);
        double messages = 0;
        double seconds = 0;
        for (std::int64_t k = 0; k < steps; ++k) {
            messages += static_cast<double>(method.messages(k));
            seconds += to_seconds(method.time(k));
        }

        const Scenario scenario = method.scenario(study, steps);

        CHECK(messages_of_run(scenario).value() == messages);
        CHECK(to_seconds(model_step_time(scenario, steps).value()) ==
              doctest::Approx(seconds / static_cast<double>(steps)).epsilon(1e-9));
    }
}

TEST_CASE("periodic methods: a thousand million steps are counted as fast as a period of them") {
    const TrainingStudy study;
    const Periodic method{4, 0};
    const Scenario scenario = method.scenario(study, 1'000'000'000);

    CHECK(messages_of_run(scenario).value() == doctest::Approx(1e9 * (1003 + 10.5)).epsilon(1e-12));
}

TEST_CASE("periodic methods: if a period is too long to count, nothing is predicted, at once") {
    const TrainingStudy study;
    constexpr std::int64_t very_many = std::int64_t{1} << 40;
    const Scenario scenario = Periodic{very_many, 5}.scenario(study, very_many);

    CHECK(!messages_of_run(scenario));
    CHECK(!model_step_time(scenario, very_many));
}

TEST_CASE("periodic methods: one step of the period without a closed form leaves none") {
    const TrainingStudy study;
    Scenario scenario = Periodic{3, 0}.scenario(study, 9);
    scenario.algorithm.model_step = [](const StepModelInput&, std::int64_t k, double) {
        return k == 2 ? std::nullopt : std::optional(Duration{1});
    };

    CHECK(model_step_time(scenario, 2).has_value());
    CHECK_FALSE(model_step_time(scenario, 3).has_value());
}

}  // namespace
}  // namespace paceline::periodic_methods_test
