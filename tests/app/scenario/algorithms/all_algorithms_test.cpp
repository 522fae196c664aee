// Every algorithm that a scenario can name, as configured in the study that compares them.
#include <cmath>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "app/json/names.hpp"
#include "app/scenario/algorithms/algorithms.hpp"
#include "app/scenario/study.hpp"
#include "app/study/study_file.hpp"
#include "tests/app/host/temporary_folder.hpp"
#include "tests/app/studies/run_points.hpp"

namespace paceline::all_algorithms_test {
namespace {

using Json = nlohmann::json;

Json shipped() {
    const auto path = std::filesystem::path(PACELINE_SOURCE_DIR) / "scenarios/all-algorithms.json";
    return Json::parse(content(path));
}

// The study without training: AlexNet's messages, and no optimizers.
Json timing_only(int nodes, int iterations) {
    Json study = shipped();
    for (const char* key : {"$schema", "optimizer", "measure"}) study.erase(key);
    study["workload"] = {{"profile", "alexnet"}, {"step_time", "344ms"}, {"update_time", "3ms"}};
    study["stop"] = {{"iterations", iterations}};
    study["cluster"] = {
        {"nodes", nodes},
        {"fabric", {{"kind", "star"}, {"link", {{"bandwidth", "10Gbps"}, {"latency", "20us"}}}}}};
    Json algorithms = study["sweep"]["algorithm"];
    for (Json& algorithm : algorithms) algorithm.erase("optimizer");
    study["sweep"] = {{"algorithm", algorithms}};
    return study;
}

// Replaces the study's task by a small one.
Json small_task(int nodes) {
    Json study = shipped();
    study.erase("$schema");
    study["measure"] = Json::object();
    study["cluster"]["nodes"] = nodes;
    study["workload"]["model"] = {{"kind", "mlp"}, {"hidden", {8}}};
    study["workload"]["data"] = {{"kind", "gaussian-mixture"}, {"train", 256}, {"test", 64}};
    study["workload"]["batch"] = 8;
    study["stop"] = {{"iterations", 20}};
    study["sweep"].erase("cluster.fabric.link.preset");
    return study;
}

struct Run {
    TemporaryFolder folder;
    Study study;
    std::vector<PointResult> results;

    explicit Run(const Json& json)
        : study(read_study(folder.write("study.json", json.dump()), {})),
          results(run_points(study, 2)) {}
};

// Workers of DGC and gradient dropping leave the exchange at different times, so their steps
// overlap a little. For methods without rounds, the closed form describes a run that does not end;
// the last messages of a finite run take slightly more or less time.
double tolerance(const std::string& kind, const std::string& label) {
    if (kind == "dgc" || kind == "gradient-dropping") return 0.01;
    if (kind == "ps-async" || kind == "ad-psgd" || kind == "swarm-sgd") return 0.02;
    // Their messages are all-reduced, and chunks differ by a byte if n does not divide them.
    if (label == "random-k" || label == "random block" || kind == "sparta") return 1e-7;
    // Its chunks differ in length, and the form has all as long as the longest.
    if (kind == "one-bit-sgd") return 1e-4;
    return 1e-9;
}

TEST_CASE("all algorithms: the study that compares them has every one that trains") {
    std::set<std::string_view> there;
    const Json study = shipped();
    for (const Json& algorithm : study.at("sweep").at("algorithm"))
        there.insert(algorithm.at("kind").get_ref<const std::string&>());

    for (const AlgorithmEntry& entry : algorithm_table()) {
        CAPTURE(entry.name);
        const bool is_dense_by_another_name = entry.name == "pmsgd";
        CHECK(there.contains(entry.name) == (entry.traits.trains && !is_dense_by_another_name));
    }
}

TEST_CASE("all algorithms: a step takes the time of its closed form on an idle star") {
    for (const int nodes : {1, 2, 16}) {
        const Json json = timing_only(nodes, 96);
        const Run run(json);
        for (std::size_t i = 0; i < run.results.size(); ++i) {
            const Metrics& m = run.results[i].metrics;
            CAPTURE(nodes);
            CAPTURE(m.outcome_details);
            const std::string label = run.study.points[i].scenario.algorithm.label;
            CAPTURE(label);
            const std::string kind = json["sweep"]["algorithm"][i]["kind"];

            REQUIRE(m.outcome == "finished");
            if (label == "SwarmSGD, blocking" && nodes > 2) continue;  // no closed form
            REQUIRE(m.model_step_time_s.has_value());
            CHECK(std::abs(*m.step_time_s / *m.model_step_time_s - 1) <= tolerance(kind, label));
        }
    }
}

bool has_servers(const Run& run, std::size_t point) {
    return run.study.points[point].scenario.algorithm.server_nodes > 0;
}

TEST_CASE("all algorithms: workers receive what workers send") {
    const Run run(small_task(4));
    for (std::size_t i = 0; i < run.results.size(); ++i) {
        const Metrics& m = run.results[i].metrics;
        const std::string label = run.study.points[i].scenario.algorithm.label;
        CAPTURE(label);
        if (m.outcome != "finished" || has_servers(run, i)) continue;

        CHECK(m.bytes_sent_per_node_per_step.value() > 0);
        CHECK(m.bytes_sent_per_node_per_step.value() == m.bytes_received_per_node_per_step.value());
    }
}

TEST_CASE("all algorithms: a run that trains has the same end, time, loss and bytes twice") {
    const Run one(small_task(4));
    const Run two(small_task(4));
    REQUIRE(one.results.size() == two.results.size());
    for (std::size_t i = 0; i < one.results.size(); ++i) {
        const Metrics& a = one.results[i].metrics;
        const Metrics& b = two.results[i].metrics;
        const std::string label = one.study.points[i].scenario.algorithm.label;
        CAPTURE(label);

        CHECK(a.outcome == b.outcome);
        CHECK(a.sim_time_s == b.sim_time_s);
        CHECK(a.train_loss == b.train_loss);
        CHECK(a.bytes_sent_per_node_per_step == b.bytes_sent_per_node_per_step);
    }
}

TEST_CASE("all algorithms: a lone worker trains without a message") {
    const Run run(small_task(1));
    for (std::size_t i = 0; i < run.results.size(); ++i) {
        const Metrics& m = run.results[i].metrics;
        const std::string label = run.study.points[i].scenario.algorithm.label;
        CAPTURE(label);

        CHECK((m.outcome == "finished" || m.outcome == "diverged"));
        CHECK((m.bytes_sent_per_node_per_step.value_or(0) > 0) == has_servers(run, i));
    }
}

}  // namespace
}  // namespace paceline::all_algorithms_test
