#include "app/study/baseline.hpp"

#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "app/run/run_point.hpp"
#include "tests/app/studies/training_study.hpp"

namespace paceline::baseline_test {
namespace {

TEST_CASE("baseline: it is judged at the interval of the run, in iterations, epochs or time") {
    const TrainingStudy study;
    for (const char* every : {"4 iterations", "0.5 epochs", "1s"}) {
        CAPTURE(every);
        const Scenario run = study.scenario({fmt::format("measure.every={}", every),
                                             "measure.target_loss=1e-9", "measure.baseline=true"});
        const Cadence own = run.training->measurement.cadence(run.steps_per_epoch());

        const Scenario baseline = baseline_of(run);

        const Cadence of_baseline =
            baseline.training->measurement.cadence(baseline.steps_per_epoch());
        CHECK(of_baseline.iterations == own.iterations);
        CHECK(of_baseline.time == own.time);
        CHECK(baseline.stop.iterations == *run.steps() * run.cluster.workers);
    }
}

TEST_CASE("baseline: its time to the target is rounded up to an interval of the run, not to more") {
    const TrainingStudy study;
    const double start = study.run().timeline.front().train_loss;
    const auto time_to_target = [&](const std::string& every) {
        return run_point(
                   baseline_of(study.scenario(
                       {"measure.every=" + every, "measure.baseline=true", "stop.iterations=200",
                        fmt::format("measure.target_loss={}", 0.98 * start)})),
                   nullptr)
            .time_to_target_s.value();
    };
    constexpr double step_s = 1e-3;

    const double exact = time_to_target("1 iterations");
    const double rounded = time_to_target("3 iterations");

    CHECK(exact > 0);
    CHECK(rounded >= exact);
    CHECK(rounded < exact + 3 * step_s);
}

}  // namespace
}  // namespace paceline::baseline_test
