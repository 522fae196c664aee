// What a run that ends after a number of samples computes, and what its last row says.
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/questions/check_text.hpp"
#include "app/run/run_point.hpp"
#include "app/study/study_file.hpp"
#include "tests/app/host/temporary_folder.hpp"
#include "tests/app/questions/warnings_of.hpp"

namespace paceline::final_models_test {
namespace {

using doctest::Approx;

// Eight machines with two classes of digits each, one four times slower.
Json eight_machines(const std::string& algorithm, const std::string& stop) {
    Json json = Json::parse(R"({
        "cluster": {"nodes": 8, "fabric": {"kind": "star", "link": {"preset": "1GbE-tcp"}},
                    "stragglers": {"factor": 4, "nodes": [7]}},
        "workload": {"model": {"kind": "softmax-regression"},
                     "data": {"kind": "digits", "train": 2048, "test": 512,
                              "partition": {"kind": "label-sorted"}},
                     "batch": 32, "step_time": "2ms"},
        "optimizer": {"learning_rate": 0.05, "momentum": 0.9},
        "measure": {"every": "10ms"}})");
    json["algorithm"] = Json::parse(algorithm);
    json["stop"] = Json::parse(stop);
    return json;
}

Study study_of(const Json& json) {
    const TemporaryFolder folder;
    return read_study(folder.write("scenario.json", json.dump()), {});
}

Metrics run(const Json& json) {
    return run_point(study_of(json).points.front().scenario, nullptr);
}

const std::vector<std::string> free_algorithms{
    R"({"kind": "ps-async"})",
    R"({"kind": "ps-stale", "bound": 0})",
    R"({"kind": "ps-stale", "bound": 3})",
    R"({"kind": "ad-psgd"})",
    R"({"kind": "swarm-sgd", "mode": "blocking", "local_steps": 4, "mixing": {"kind": "ring"}})",
    R"({"kind": "swarm-sgd", "mode": "one-sided", "local_steps": 2, "mixing": {"kind": "ring"}})",
    R"({"kind": "swarm-sgd", "local_steps": 4, "mixing": {"kind": "ring"}})",
};

// Once all other workers are done, only the slow one changes a server's model. An evaluation by
// time sees what the server holds; so must the last one.
TEST_CASE("final row: a server's model is the one it holds, and nearly that of a moment before") {
    const Metrics m = run(eight_machines(free_algorithms[0], R"({"epochs": 10})"));

    REQUIRE(m.timeline.size() > 3);
    const Evaluation& before = m.timeline[m.timeline.size() - 2];
    CHECK(m.outcome == "finished");
    CHECK(m.timeline.back().sim_time_s == m.sim_time_s);
    CHECK(std::abs(m.train_loss.value() - before.train_loss) < 0.05);
    CHECK(std::abs(m.test_accuracy.value() - before.test_accuracy.value()) < 0.02);
}

TEST_CASE("samples: all workers together compute exactly that many gradients, however uneven") {
    for (const std::string& algorithm : free_algorithms)
        for (const int seed : {1, 2, 3})
            for (const std::int64_t samples : {1, 33, 5000, 20'480}) {
                CAPTURE(algorithm);
                CAPTURE(seed);
                CAPTURE(samples);
                Json json = eight_machines(algorithm, fmt::format(R"({{"samples": {}}})", samples));
                json["seed"] = seed;
                json["cluster"]["stragglers"] = {{"factor", 4}, {"nodes", {seed, 7}}};
                json["measure"] = {{"every", "3 iterations"}};
                const Metrics m = run(json);

                CHECK(m.outcome == "finished");
                CHECK(m.iterations * 8 == Approx(std::ceil(static_cast<double>(samples) / 32)));
                CHECK(m.timeline.back().iteration == m.iterations);
            }
}

// Without messages that wait, workers take steps in proportion to their speeds: seven of one a
// step and one of a quarter make 7.25 times the throughput of one.
TEST_CASE("samples: the speedup of a method without waiting is the sum of its workers' speeds") {
    const Metrics by_samples = run(eight_machines(free_algorithms[3], R"({"samples": 204800})"));
    const Metrics by_steps = run(eight_machines(free_algorithms[3], R"({"epochs": 100})"));

    CHECK(by_samples.speedup.value() == Approx(7.25).epsilon(0.01));
    CHECK(by_steps.speedup.value() == Approx(2));
}

TEST_CASE("samples: a synchronous method takes as many steps as cover them") {
    for (const char* algorithm : {R"({"kind": "dense"})", R"({"kind": "local-sgd", "period": 2})",
                                  R"({"kind": "dsgd", "mixing": {"kind": "ring"}})"})
        for (const auto& [samples, steps] : {std::pair{1, 1}, {256, 1}, {257, 2}, {2048, 8}}) {
            const Metrics by_samples =
                run(eight_machines(algorithm, fmt::format(R"({{"samples": {}}})", samples)));
            const Metrics by_steps =
                run(eight_machines(algorithm, fmt::format(R"({{"iterations": {}}})", steps)));

            CHECK(by_samples.iterations == steps);
            CHECK(by_samples.sim_time_s == by_steps.sim_time_s);
            CHECK(by_samples.train_loss == by_steps.train_loss);
        }
}

// With two milestones at half the run, the second half has a rate of 1e-12 and changes nothing.
TEST_CASE("samples: schedules in shares of the run go by the share of samples") {
    for (const std::string& algorithm : free_algorithms) {
        CAPTURE(algorithm);
        const auto loss = [&](std::int64_t samples, bool stops_half_way) {
            Json json = eight_machines(algorithm, fmt::format(R"({{"samples": {}}})", samples));
            json["optimizer"]["momentum"] = 0;
            json["measure"] = {{"every", "10 iterations"}};
            if (stops_half_way)
                json["optimizer"]["schedule"] = {
                    {"kind", "step"}, {"milestones", {0.5}}, {"factor", 1e-12}};
            return run(json);
        };
        const Metrics whole = loss(20'480, true);
        const Evaluation& middle = whole.timeline[(whole.timeline.size() - 1) / 2];
        CHECK(middle.iteration == Approx(40).epsilon(0.02));
        const Metrics half = loss(10'240, false);

        // Those under way in the middle of the run had begun with the full rate.
        CHECK(std::abs(whole.train_loss.value() - half.train_loss.value()) <
              0.5 * (whole.timeline[0].train_loss - half.train_loss.value()));
        CHECK(whole.train_loss.value() < 0.9 * whole.timeline[0].train_loss);
    }
}

TEST_CASE("stop warnings: equal steps of uneven workers, in methods that do not need them") {
    const auto warnings = [](const std::string& algorithm, const std::string& stop, double factor) {
        Json json = eight_machines(algorithm, stop);
        json["cluster"]["stragglers"]["factor"] = factor;
        return warnings_of(study_of(json));
    };
    for (const std::string& algorithm : free_algorithms) {
        for (const char* stop : {R"({"iterations": 8})", R"({"epochs": 1, "time": "1s"})"})
            CHECK(warnings(algorithm, stop, 4).size() == 1);
        for (const char* stop : {R"({"samples": 8})", R"({"time": "1s"})"})
            CHECK(warnings(algorithm, stop, 4).empty());
        CHECK(warnings(algorithm, R"({"iterations": 8})", 1).empty());
    }
    CHECK(warnings(R"({"kind": "dense"})", R"({"iterations": 8})", 4).empty());
    const Study study = study_of(eight_machines(free_algorithms[0], R"({"iterations": 8})"));
    CHECK(check_text(study).find("warning: ps-async: stops after the same number") !=
          std::string::npos);
}

}  // namespace
}  // namespace paceline::final_models_test
