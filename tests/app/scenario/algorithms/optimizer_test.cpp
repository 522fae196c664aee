#include "app/scenario/algorithms/optimizer.hpp"

#include <doctest/doctest.h>

#include "tests/app/studies/training_study.hpp"

namespace paceline::optimizer_test {
namespace {

const TrainingStudy study;

Optimizer optimizer(const std::string& json) {
    return study.scenario({"optimizer=" + json}).training.value().optimizer;
}

TEST_CASE("optimizer: without more than a learning rate the rest has its documented values") {
    const Optimizer o = optimizer(R"({"learning_rate": 0.25})");

    CHECK(o.schedule.learning_rate == 0.25);
    CHECK(o.schedule.decay == Decay::constant);
    CHECK(o.schedule.warm_up == 0);
    CHECK(o.schedule.reference_batch == 0);
    CHECK(o.momentum == 0.9);
    CHECK_FALSE(o.nesterov);
    CHECK(o.weight_decay == 0);
    CHECK(o.clip == 0);
}

TEST_CASE("optimizer: every key is read") {
    const Optimizer o = optimizer(R"({"learning_rate": 0.5, "momentum": 0.75, "nesterov": true,
        "weight_decay": 0.001, "clip": 2.5,
        "schedule": {"kind": "step", "warm_up": 0.125, "milestones": [0.5, 0.75], "factor": 0.2,
                     "reference_batch": 256}})");

    CHECK(o.schedule.learning_rate == 0.5);
    CHECK(o.schedule.decay == Decay::step);
    CHECK(o.schedule.warm_up == 0.125);
    CHECK(o.schedule.milestones == std::vector<double>{0.5, 0.75});
    CHECK(o.schedule.factor == 0.2);
    CHECK(o.schedule.reference_batch == 256);
    CHECK(o.momentum == 0.75);
    CHECK(o.nesterov);
    CHECK(o.weight_decay == 0.001);
    CHECK(o.clip == 2.5);
}

TEST_CASE("optimizer: a step's factor is a tenth unless it says, and a cosine needs nothing") {
    const Optimizer step =
        optimizer(R"({"learning_rate": 0.5, "schedule": {"kind": "step", "milestones": [0.5]}})");
    const Optimizer cosine =
        optimizer(R"({"learning_rate": 0.5, "momentum": 0, "schedule": {"kind": "cosine"}})");

    CHECK(step.schedule.factor == 0.1);
    CHECK(cosine.schedule.decay == Decay::cosine);
    CHECK(cosine.momentum == 0);
}

}  // namespace
}  // namespace paceline::optimizer_test
