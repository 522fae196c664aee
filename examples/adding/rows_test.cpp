// The rows of the examples, read as the tables of app/scenario read theirs, in scenarios that run.
#include "examples/adding/rows.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "app/host/files.hpp"
#include "app/json/schema.hpp"
#include "tests/app/scenario/one_point.hpp"

namespace paceline::rows_test {
namespace {

// What the schema would say of the examples.
const Json& definitions() {
    static const std::string file = PACELINE_SOURCE_DIR "/examples/adding/definitions.json";
    static const Json all = parse_json(read_text(file), file);
    return all.at("definitions");
}

std::vector<std::string_view> keys_of(std::string_view definition) {
    std::vector<std::string_view> keys;
    for (const auto& [key, value] :
         definitions().at(std::string(definition)).at("properties").items())
        keys.push_back(key);
    return keys;
}

// Calls a row's reader as the tree does: with the keys of its definition, which refuses all others.
template <class Entry, class Input>
auto read_by(const Entry& entry, const std::vector<std::string_view>& keys, const Json& object,
             const Input& input) {
    const std::string file = "example";
    return entry.read(ObjectReader({&object, &file, "example"}, keys), input);
}

Json scenario_of(const Json& workload, const Json& algorithm) {
    return {
        {"cluster",
         {{"nodes", 8},
          {"fabric", {{"kind", "star"}, {"link", {{"bandwidth", "1Gbps"}, {"latency", "5us"}}}}}}},
        {"workload", workload},
        {"algorithm", algorithm},
        {"stop", {{"iterations", 10}}}};
}

TEST_CASE("rows: their keys are those of their definitions, in the same order") {
    for (const FabricEntry& entry : example_fabrics())
        CHECK(std::vector(entry.keys.begin(), entry.keys.end()) == keys_of(entry.name));
    for (const ModelEntry& entry : example_models())
        CHECK(std::vector(entry.keys.begin(), entry.keys.end()) ==
              keys_of("model-" + std::string(entry.name)));
}

TEST_CASE("rows: what a definition refers to is in the schema") {
    const Json all = definitions().flatten();
    int references = 0;
    for (const auto& [path, value] : all.items()) {
        if (!path.ends_with("/$ref")) continue;
        CAPTURE(path);
        ++references;
        const std::string name = value.get<std::string>();
        CHECK(scenario_schema().contains(Json::json_pointer(name.substr(1))));
    }
    CHECK(references == 8);
}

TEST_CASE("rows: a step of pipelined SGD takes the time that its reader states") {
    const AlgorithmEntry& entry = example_algorithms().front();
    for (const char* const step_time : {"1ms", "400ms"}) {  // an all-reduce takes 140 ms
        CAPTURE(step_time);
        Scenario scenario = read_one_point(
            scenario_of({{"gradient", "10MB"}, {"step_time", step_time}}, {{"kind", "dense"}}));
        const Metrics dense = run_point(scenario, nullptr);
        AlgorithmInput input{{scenario.cluster.workers}};
        input.exchanges = entry.exchanges;
        scenario.algorithm =
            read_by(entry, keys_of(entry.name), {{"kind", "pipe-sgd"}, {"wire", "fp32"}}, input);

        const Metrics metrics = run_point(scenario, nullptr);

        CHECK(metrics.outcome == "finished");
        CHECK(metrics.step_time_s == metrics.model_step_time_s);
        CHECK(metrics.step_time_s < dense.step_time_s);
    }
}

TEST_CASE("rows: a step on the mesh takes a gradient, and the time of 10 MB on a cable") {
    Scenario scenario =
        read_one_point(scenario_of({{"gradient", "10MB"}, {"step_time", "100ms"}},
                                   {{"kind", "dsgd"}, {"mixing", {{"kind", "complete"}}}}));
    const FabricEntry& entry = example_fabrics().front();
    const Json mesh = {{"kind", "mesh"}, {"link", {{"bandwidth", "1Gbps"}, {"latency", "5us"}}}};
    scenario.cluster.fabric = read_by(entry, keys_of("mesh"), mesh, NodeDraw{8, 1});

    const Metrics metrics = run_point(scenario, nullptr);

    CHECK(metrics.outcome == "finished");
    CHECK(metrics.step_time_s == doctest::Approx(0.100 + 0.080 + 0.000005).epsilon(1e-12));
    CHECK_THROWS_AS(read_by(entry, keys_of("mesh"), mesh, NodeDraw{100'000, 1}), ConfigError);
}

TEST_CASE("rows: the low-rank net trains") {
    const Json digits = {{"model", {{"kind", "softmax-regression"}}},
                         {"data", {{"kind", "digits"}, {"train", 200}, {"test", 50}}},
                         {"batch", 5},
                         {"step_time", "2ms"}};
    Json text = scenario_of(digits, {{"kind", "dense"}});
    text["optimizer"] = {{"learning_rate", 0.01}};
    text["stop"] = {{"epochs", 10}};
    Scenario scenario = read_one_point(text);
    const ModelChoice net =
        read_by(example_models().front(), keys_of("model-low-rank"),
                {{"kind", "low-rank"}, {"rank", 6}}, scenario.training->data.shape);
    scenario.training->model = net;
    scenario.workload.layout = net.layout;
    scenario.workload.tensor_macs = std::make_shared<const std::vector<double>>(net.tensor_macs);

    const Metrics metrics = run_point(scenario, nullptr);

    CHECK(metrics.outcome == "finished");
    CHECK(metrics.train_loss < 1.0);  // ln(10) = 2.3 to begin with
}

}  // namespace
}  // namespace paceline::rows_test
