// The predicted cost of runs that train: its laws. Its constants are measured
// (docs/performance.md).
#include "app/run/running_time.hpp"

#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "app/scenario/memory_estimate.hpp"
#include "app/study/study_file.hpp"
#include "tests/app/studies/training_study.hpp"
#include "tests/app/study/small_study.hpp"

namespace paceline::running_time_test {
namespace {

using doctest::Approx;

constexpr const char* large =
    R"(workload.model={"kind": "mlp", "hidden": [300, 300]})";  // 100,000 parameters

double seconds(const std::vector<std::string>& settings) {
    const TrainingStudy study;
    std::vector<std::string> all{large, "measure={}"};
    all.insert(all.end(), settings.begin(), settings.end());
    return expected_seconds(study.scenario(all)).value();
}

std::int64_t memory(const std::vector<std::string>& settings) {
    const TrainingStudy study;
    std::vector<std::string> all{large};
    all.insert(all.end(), settings.begin(), settings.end());
    return estimated_memory(study.scenario(all)).count;
}

TEST_CASE("running time: of training it grows with steps, workers and batch") {
    const double once = seconds({"stop.iterations=100"});
    CHECK(seconds({"stop.iterations=1000"}) == Approx(10 * once).epsilon(0.05));
    CHECK(seconds({"stop.iterations=100", "cluster.nodes=8"}) == Approx(2 * once).epsilon(0.05));
    CHECK(seconds({"stop.iterations=100", "workload.batch=80"}) > 5 * once);
}

TEST_CASE("running time: only the clients of a round compute") {
    const std::string all = R"(algorithm={"kind": "fedavg", "local_steps": 2})";
    const std::string half = R"(algorithm={"kind": "fedavg", "local_steps": 2, "fraction": 0.5})";
    CHECK(seconds({all, "stop.iterations=200"}) ==
          Approx(2 * seconds({half, "stop.iterations=200"})).epsilon(0.05));
}

TEST_CASE("running time: evaluations count, by steps and by time") {
    const double none = seconds({"stop.iterations=100"});
    CHECK(seconds({"stop.iterations=100", "measure.every=1 iterations"}) > 1.5 * none);
    CHECK(seconds({"stop.iterations=100", "measure.every=1ms"}) > 1.5 * none);
}

TEST_CASE("running time: a time limit bounds the steps by what they compute") {
    // A step of 1 ms at least, on links without a closed form.
    const std::vector<std::string> limited{R"(stop={"time": "1s"})", "cluster.fabric.overhead=1us"};
    const TrainingStudy study;
    CHECK(seconds(limited) == Approx(seconds({"stop.iterations=1000"})).epsilon(0.05));
    CHECK(may_end_earlier(study.scenario(limited)));
    CHECK(may_end_earlier(study.scenario({"stop.target_loss=0.1"})));
    CHECK_FALSE(may_end_earlier(study.scenario()));
}

// One step of 4096 workers that only exchange: 33.5 million messages around a ring.
Scenario scenario_of_ring(const std::vector<std::string>& settings) {
    const SmallStudy study(4, 1);
    std::vector<std::string> all{"cluster.nodes=4096", "workload.gradient=97MB"};
    all.insert(all.end(), settings.begin(), settings.end());
    return read_study(study.file, all).points.front().scenario;
}

constexpr const char* jitter =
    R"(cluster.fabric.link.jitter={"kind": "log-normal", "median": "1us", "sigma": 1})";

TEST_CASE("running time: messages of rings that run ahead of the queue cost far less than events") {
    const double ring = expected_seconds(scenario_of_ring({})).value();
    CHECK(ring > 0.01);
    CHECK(ring < 0.2);
    for (const char* by_events : {jitter, R"(cluster.transport={"kind": "tcp"})",
                                  R"(cluster.library={"protocol": "eager"})"}) {
        CAPTURE(by_events);
        CHECK(expected_seconds(scenario_of_ring({by_events})).value() > 10 * ring);
    }
}

TEST_CASE("running time: where only a time limit ends a run, it has no more steps than gradients") {
    const Scenario scenario = scenario_of_ring(
        {"cluster.nodes=4", jitter, "workload.step_time=1s", R"(stop={"time": "1000s"})"});
    CHECK(expected_messages(scenario).value() == Approx(1000 * 2 * 4 * 3));
    CHECK(expected_seconds(scenario));
    CHECK(may_end_earlier(scenario));
}

TEST_CASE("memory: a replicated model exists once, a decentralized one on every worker") {
    constexpr std::int64_t parameters = 90'000;
    const auto more = [](const std::string& algorithm) {
        return static_cast<double>(memory({algorithm, "cluster.nodes=64"}) -
                                   memory({algorithm, "cluster.nodes=32"})) /
               (32.0 * 8 * parameters);
    };
    CHECK(more(R"(algorithm={"kind": "dense"})") < 0.5);
    CHECK(more(R"(algorithm={"kind": "local-sgd"})") > 2.5);
    CHECK(more(R"(algorithm={"kind": "dmsgd", "mixing": {"kind": "ring"}})") > 4.5);
}

TEST_CASE("memory: activations of a net are those of its layers") {
    const TrainingStudy study;
    // The example has 20 features or so; what counts is what the layers put out.
    const auto activations = [&](const char* hidden) {
        return study
            .scenario({std::string(R"(workload.model={"kind": "mlp", "hidden": )") + hidden + "}"})
            .training->model.activations;
    };
    const double classes = activations("[]");
    CHECK(activations("[300]") == 300 + classes);
    CHECK(activations("[300, 70]") == 370 + classes);
}

}  // namespace
}  // namespace paceline::running_time_test
