// A scenario whose files are texts in memory: nothing below opens one.
#include "app/json/sources.hpp"

#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "app/run/results.hpp"
#include "app/run/run_point.hpp"
#include "app/scenario/study.hpp"
#include "app/study/study_file.hpp"
#include "tests/app/host/temporary_folder.hpp"
#include "tests/app/json/in_memory.hpp"
#include "tests/models/data/data_files.hpp"

namespace paceline::scenario_sources_test {
namespace {

using Texts = std::map<std::string, std::string>;

// Names a profile, a link trace, an absence trace and a table of data.
constexpr const char* scenario = R"({
    "cluster": {"nodes": 3, "fabric": {"kind": "star", "link": {"bandwidth": "100Mbps"}},
                "access": [{"kind": "trace", "file": "traces/lte.csv", "period": "20s"}],
                "failures": {"trace": {"file": "../away.csv"}}},
    "workload": {"model": {"kind": "mlp", "hidden": [3]}, "batch": 4,
                 "data": {"kind": "csv", "file": "points.csv", "label": "class"},
                 "stand_in_for": {"profile": "net.json", "step_time": "100ms"}},
    "optimizer": {"learning_rate": 0.1},
    "algorithm": {"kind": "fedavg", "local_steps": 2}, "stop": {"iterations": 6}})";

Texts files() {
    std::string points = "x,y,class\n";
    for (int i = 0; i < 60; ++i)
        points += std::to_string(i * i % 17) + "," + std::to_string(i % 5) + "," +
                  std::to_string(i % 2) + "\n";
    return {{"in/traces/lte.csv", "time_s,up_mbps,down_mbps\n0,10,20\n5,1,2\n"},
            {"in/../away.csv", "node,leaves_s,returns_s\n1,0.5,1.5\n"},
            {"in/points.csv", points},
            {"in/net.json", R"({"name": "net", "source": "this test", "layers": [
                {"name": "a", "macs": 7, "tensors": [{"name": "w", "shape": [300, 50]}]}]})"}};
}

Study read(const Texts& texts, const std::vector<std::string>& settings = {}) {
    return read_study(ScenarioText{"in/scenario.json", scenario, in_memory(texts)}, settings);
}

std::string refusal_of(const Texts& texts, const std::vector<std::string>& settings = {}) {
    try {
        (void)read(texts, settings);
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "nothing";
}

std::string results_of(const Study& study) {
    std::vector<PointResult> results;
    for (const Point& point : study.points)
        results.push_back({run_point(point.scenario, nullptr), 0});
    return results_csv({study, results});
}

TEST_CASE("sources: a profile, traces and data that are texts in memory give what files give") {
    const TemporaryFolder folder;
    for (const auto& [name, text] : files()) static_cast<void>(folder.write(name, text));
    const std::string file = folder.write("in/scenario.json", scenario);

    const Study study = read(files());

    CHECK(study.points[0].scenario.cluster.access.size() == 1);
    CHECK(study.points[0].scenario.cluster.failures->trace->absences[1].size() == 1);
    CHECK(study.points[0].scenario.training->data.shape.train == 48);
    CHECK(study.points[0].scenario.workload.layout->entries() == 15000);
    CHECK(results_of(study) == results_of(read_study(file, {})));
}

TEST_CASE("sources: gzip is inflated wherever it comes from") {
    Texts packed = files();
    for (auto& [name, text] : packed)
        if (name.ends_with(".csv")) text = gzip(text);

    CHECK(results_of(read(packed)) == results_of(read(files())));
}

TEST_CASE("sources: what a source refuses, and what is wrong in a text, is said by file") {
    for (const auto& [name, text] : files()) {
        CAPTURE(name);
        Texts texts = files();
        texts.erase(name);
        CHECK(refusal_of(texts).starts_with(name + ": "));
        CHECK(refusal_of(texts).ends_with("there is no such text"));
    }
    Texts wrong = files();
    wrong["in/traces/lte.csv"] = "time_s,up_mbps,down_mbps\n0,10,x\n";
    CHECK(refusal_of(wrong).starts_with("in/traces/lte.csv: line 2: \"x\" is not a bandwidth"));
}

TEST_CASE("sources: what does not fit into the memory that a source has is refused") {
    ScenarioText text{"in/scenario.json", scenario, in_memory(files())};
    text.sources.available_memory = [] { return AvailableMemory{Bytes{1000}}; };

    CHECK_THROWS_WITH_AS(static_cast<void>(read_study(text, {})),
                         doctest::Contains("in/scenario.json: cluster.nodes: 3 workers need about"),
                         ConfigError);
}

}  // namespace
}  // namespace paceline::scenario_sources_test
