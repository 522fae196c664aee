#include "app/scenario/workload/measurement.hpp"

#include <chrono>

#include <doctest/doctest.h>

#include "tests/app/studies/training_study.hpp"

namespace paceline::measurement_test {
namespace {

using namespace std::chrono_literals;

const TrainingStudy study;

Measurement measurement(const std::string& json) {
    return study.scenario({"measure=" + json}).training.value().measurement;
}

Cadence cadence(const std::string& every, double steps_per_epoch) {
    return measurement(R"({"every": ")" + every + R"("})").cadence(steps_per_epoch);
}

TEST_CASE("measure: a cadence is iterations, epochs or a simulated time") {
    CHECK(cadence("100 iterations", 8).iterations == 100);
    CHECK(cadence("100 iterations", 8).time == Duration::zero());
    CHECK(cadence("5 epochs", 8).iterations == 40);
    CHECK(cadence("2.5 epochs", 8).iterations == 20);
    CHECK(cadence("0.3 epochs", 8).iterations == 2);   // 2.4 steps
    CHECK(cadence("0.01 epochs", 8).iterations == 1);  // at least one
    CHECK(cadence("10s", 8).time == 10s);
    CHECK(cadence("10s", 8).iterations == 0);
}

TEST_CASE("measure: without a cadence there is none, and 8192 samples are scored") {
    const Measurement m = measurement("{}");

    CHECK(m.cadence(8).iterations == 0);
    CHECK(m.cadence(8).time == Duration::zero());
    CHECK(m.samples == 8192);
    CHECK_FALSE(m.target.given());
}

TEST_CASE("measure: samples and targets are read, those of stop by themselves") {
    const Training t =
        study
            .scenario({R"(measure={"samples": 100, "target_loss": 0.5, "target_test_loss": 0.75,
                                   "target_accuracy": 0.9})",
                       R"(stop={"iterations": 6, "target_loss": 0.25, "target_test_loss": 0.125,
                                "target_accuracy": 1})"})
            .training.value();

    CHECK(t.measurement.samples == 100);
    CHECK(t.measurement.target.train_loss == 0.5);
    CHECK(t.measurement.target.test_loss == 0.75);
    CHECK(t.measurement.target.test_accuracy == 0.9);
    CHECK(t.stop.train_loss == 0.25);
    CHECK(t.stop.test_loss == 0.125);
    CHECK(t.stop.test_accuracy == 1.0);
}

TEST_CASE("measure: the models are scored at that cadence in a run") {
    CHECK(study.run({"measure.every=4 iterations"}).timeline.size() == 3);  // 0, 4, 6
    CHECK(study.run({"measure.every=0.125 epochs"}).timeline.size() == 7);  // 8 steps
    CHECK(study.run({"measure={}"}).timeline.size() == 2);
    const Metrics by_time = study.run({"measure.every=2500us", "cluster.nodes=1"});
    REQUIRE(by_time.timeline.size() == 4);
    CHECK(by_time.timeline[1].sim_time_s == doctest::Approx(2.5e-3));
    CHECK(by_time.timeline[1].iteration == 2);
    CHECK(by_time.timeline[3].sim_time_s == doctest::Approx(6e-3));
}

}  // namespace
}  // namespace paceline::measurement_test
