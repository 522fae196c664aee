// The predicted cost of runs that train: its laws. Its constants are measured (docs/performance.md).
#include "app/run/running_time.hpp"

#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "app/scenario/memory_estimate.hpp"
#include "tests/app/studies/training_study.hpp"

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
