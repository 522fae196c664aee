// The "optimizer" of an algorithm, which overrides the scenario's optimizer key by key.
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "app/json/config_error.hpp"
#include "app/json/schema.hpp"
#include "app/scenario/algorithms/optimizer.hpp"
#include "app/study/study_file.hpp"
#include "tests/app/studies/training_study.hpp"

namespace paceline::own_optimizer_test {
namespace {

const TrainingStudy study;
const std::string common =
    R"(optimizer={"learning_rate": 0.5, "momentum": 0.75, "nesterov": true, "weight_decay": 0.001,
        "clip": 2.5, "schedule": {"kind": "cosine", "warm_up": 0.125, "reference_batch": 256}})";

std::string dense_with(const std::string& own) {
    return R"(algorithm={"kind": "dense", "optimizer": )" + own + "}";
}

Optimizer optimizer(const std::string& own) {
    return study.scenario({common, dense_with(own)}).training.value().optimizer;
}

bool equal_but(const Optimizer& a, const Optimizer& b, const std::string& key) {
    const auto same = [&key](const char* name, const auto& x, const auto& y) {
        return key == name || x == y;
    };
    return same("learning_rate", a.schedule.learning_rate, b.schedule.learning_rate) &&
           same("momentum", a.momentum, b.momentum) && same("nesterov", a.nesterov, b.nesterov) &&
           same("weight_decay", a.weight_decay, b.weight_decay) && same("clip", a.clip, b.clip) &&
           same("schedule", a.schedule.decay, b.schedule.decay) &&
           same("schedule", a.schedule.warm_up, b.schedule.warm_up) &&
           same("schedule", a.schedule.reference_batch, b.schedule.reference_batch);
}

TEST_CASE("own optimizer: an empty one changes nothing") {
    const Optimizer of_the_scenario = study.scenario({common}).training.value().optimizer;

    CHECK(equal_but(optimizer("{}"), of_the_scenario, ""));
    CHECK(of_the_scenario.clip == 2.5);
}

TEST_CASE("own optimizer: each key replaces that of the scenario, and no other") {
    const Optimizer otherwise = optimizer("{}");

    const Optimizer rate = optimizer(R"({"learning_rate": 0.125})");
    CHECK(rate.schedule.learning_rate == 0.125);
    CHECK(equal_but(rate, otherwise, "learning_rate"));
    const Optimizer momentum = optimizer(R"({"momentum": 0})");
    CHECK(momentum.momentum == 0);
    CHECK(equal_but(momentum, otherwise, "momentum"));
    const Optimizer nesterov = optimizer(R"({"nesterov": false})");
    CHECK_FALSE(nesterov.nesterov);
    CHECK(equal_but(nesterov, otherwise, "nesterov"));
    const Optimizer decay = optimizer(R"({"weight_decay": 0})");
    CHECK(decay.weight_decay == 0);
    CHECK(equal_but(decay, otherwise, "weight_decay"));
    const Optimizer clip = optimizer(R"({"clip": 0})");
    CHECK(clip.clip == 0);
    CHECK(equal_but(clip, otherwise, "clip"));
}

TEST_CASE("own optimizer: a schedule replaces the whole schedule, the learning rate stays") {
    const Optimizer o =
        optimizer(R"({"schedule": {"kind": "step", "milestones": [0.5], "factor": 0.25}})");

    CHECK(o.schedule.learning_rate == 0.5);
    CHECK(o.schedule.decay == Decay::step);
    CHECK(o.schedule.milestones == std::vector<double>{0.5});
    CHECK(o.schedule.factor == 0.25);
    CHECK(o.schedule.warm_up == 0);
    CHECK(o.schedule.reference_batch == 0);
    CHECK(equal_but(o, optimizer("{}"), "schedule"));
}

TEST_CASE("own optimizer: a run with it is the run of a scenario that says the same") {
    const std::string own = R"({"learning_rate": 0.05, "momentum": 0.5})";
    const Metrics by_algorithm =
        study.run({R"(optimizer={"learning_rate": 0.3})", dense_with(own)});
    const Metrics by_scenario = study.run({"optimizer=" + own});
    const Metrics otherwise = study.run({R"(optimizer={"learning_rate": 0.3})"});

    CHECK(by_algorithm.train_loss == by_scenario.train_loss);
    CHECK(by_algorithm.train_loss != otherwise.train_loss);
}

// The small training study with another "algorithm" and, optionally, a sweep over it.
std::string file_with(const TemporaryFolder& folder, const std::string& algorithm,
                      const std::string& sweep = "") {
    auto json = nlohmann::json::parse(small_training);
    json["algorithm"] = nlohmann::json::parse(algorithm);
    if (!sweep.empty()) json["sweep"]["algorithm"] = nlohmann::json::parse(sweep);
    return folder.write("scenario.json", json.dump());
}

TEST_CASE("own optimizer: in a sweep each algorithm has its own") {
    const TemporaryFolder folder;
    const Study swept = read_study(file_with(folder, R"({"kind": "dense"})", R"([
        {"label": "a", "kind": "dense", "optimizer": {"momentum": 0.25}},
        {"label": "b", "kind": "dense"},
        {"label": "c", "kind": "dense", "optimizer": {"momentum": 0.5, "clip": 1}}])"),
                                   {});

    REQUIRE(swept.points.size() == 3);
    std::vector<double> momenta;
    for (const Point& point : swept.points)
        momenta.push_back(point.scenario.training.value().optimizer.momentum);
    CHECK(momenta == std::vector<double>{0.25, 0.9, 0.5});
    CHECK(swept.points[2].scenario.training.value().optimizer.clip == 1);
}

std::string path_of_refusal(const std::string& own, const std::string& sweep = "") {
    const TemporaryFolder folder;
    try {
        (void)read_study(file_with(folder, R"({"kind": "dense", "optimizer": )" + own + "}", sweep),
                         {});
    } catch (const ConfigError& error) {
        return error.path();
    }
    return "accepted";
}

TEST_CASE("own optimizer: a fault in it is told with its place") {
    CHECK(path_of_refusal(R"({"momentum": 0.5})") == "accepted");
    CHECK(path_of_refusal(R"({"momentum": 1})") == "algorithm.optimizer.momentum");
    CHECK(path_of_refusal(R"({"momentums": 0})") == "algorithm.optimizer.momentums");
    CHECK(path_of_refusal(R"("fast")") == "algorithm.optimizer");
    CHECK(path_of_refusal(R"({"schedule": {"kind": "step"}})") == "algorithm.optimizer.schedule");
    CHECK(path_of_refusal("{}", R"([{"kind": "dense"},
        {"label": "b", "kind": "dense", "optimizer": {"learning_rate": 0}}])") ==
          "sweep.algorithm[1].optimizer.learning_rate");
}

TEST_CASE("own optimizer: the schema leads to each of its keys") {
    for (const std::string_view key : definition_keys("optimizer")) {
        CAPTURE(key);
        CHECK(path_problem(scenario_schema(), "algorithm.optimizer." + std::string(key)).empty());
    }
    CHECK_FALSE(path_problem(scenario_schema(), "algorithm.optimizer.beta").empty());
}

}  // namespace
}  // namespace paceline::own_optimizer_test
