// All faults of a scenario are named at once, and nothing that only follows from one of them.
#include "app/scenario/faults.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "app/json/schema.hpp"
#include "app/scenario/study.hpp"
#include "tests/app/json/in_memory.hpp"

namespace paceline::faults_test {
namespace {

// A valid scenario that trains nothing, with every section.
constexpr const char* timing_scenario = R"({
    "title": "all sections", "seed": 3,
    "cluster": {"nodes": 8,
                "fabric": {"kind": "star", "link": {"bandwidth": "1Gbps", "latency": "50us"}},
                "compute_jitter": {"kind": "log-normal", "sigma": 0.1},
                "stragglers": {"nodes": [1], "factor": 2}},
    "workload": {"gradient": "4MB", "step_time": "5ms", "batch": 32, "dataset_samples": 50000},
    "algorithm": {"kind": "dgc", "density": 0.01},
    "measure": {"skip": 2},
    "stop": {"iterations": 10},
    "price": {"up_per_gb": 0.01, "down_per_gb": 0.1}})";

// One that trains.
constexpr const char* training_scenario = R"({
    "cluster": {"nodes": 4, "fabric": {"kind": "star", "link": {"preset": "1GbE-tcp"}}},
    "workload": {"model": {"kind": "mlp", "hidden": [16]},
                 "data": {"kind": "digits", "train": 1024, "test": 256},
                 "batch": 16, "step_time": "5ms"},
    "optimizer": {"learning_rate": 0.1, "momentum": 0.9},
    "algorithm": {"kind": "dmsgd", "mixing": {"kind": "ring"}},
    "measure": {"every": "2 epochs"},
    "stop": {"iterations": 100}})";

ScenarioText text_of(const Json& scenario, std::map<std::string, std::string> files = {}) {
    return {"s.json", scenario.dump(), in_memory(std::move(files))};
}

// Returns the messages of all faults of a study, in their order. The name of the scenario is left
// out.
std::vector<std::string> faults(const ScenarioText& scenario, const Settings& settings = {},
                                const Picks& picks = {}) {
    try {
        read_study(scenario, settings, picks);
    } catch (const ConfigError& error) {
        std::vector<std::string> messages = messages_of(error);
        for (std::string& message : messages)
            if (message.starts_with("s.json: ")) message.erase(0, 8);
        return messages;
    }
    return {};
}

std::vector<std::string> faults(const char* scenario, const Settings& settings = {}) {
    return faults(text_of(Json::parse(scenario)), settings);
}

// Checks that the messages are as many as the beginnings, and begin with these.
void check_begin(const std::vector<std::string>& messages,
                 const std::vector<std::string>& beginnings) {
    CAPTURE(fmt::format("{}", fmt::join(messages, "\n")));
    REQUIRE(messages.size() == beginnings.size());
    for (std::size_t i = 0; i < messages.size(); ++i)
        CHECK(messages[i].substr(0, beginnings[i].size()) == beginnings[i]);
}

TEST_CASE("faults: a scenario with five faults names five, each with its place and what is right") {
    const auto messages = faults(R"({
        "cluster": {"nodes": "four",
                    "fabric": {"kind": "star", "link": {"bandwidth": "1Gbit"}}},
        "workload": {"gradient": "4MB", "stp_time": "5ms"},
        "algorithm": {"kind": "dcg", "density": 0.01},
        "stop": {"iterations": 0}})");

    check_begin(
        messages,
        {"cluster.nodes: \"four\" is not a whole number from 1",
         "cluster.fabric.link.bandwidth: \"1Gbit\" is not a bandwidth: the unit \"Gbit\" is",
         "workload.stp_time: \"stp_time\" is not a key here; did you mean \"step_time\"?",
         "algorithm.kind: \"dcg\" is not an algorithm; did you mean \"dgc\"?",
         "stop.iterations: 0 is not a whole number from 1"});
}

TEST_CASE("faults: what() is the first fault alone, and each other has file, path and problem") {
    try {
        read_study(text_of(Json::parse(R"({"cluster": 5, "workload": 6})")), {});
        FAIL("it is refused");
    } catch (const ConfigError& error) {
        CHECK(std::string(error.what()) ==
              "s.json: cluster: 5 is not an object; write {\"nodes\": ...}");
        REQUIRE(error.others().size() == 3);
        CHECK(error.others()[0].file() == "s.json");
        CHECK(error.others()[0].path() == "workload");
        CHECK(error.others()[0].problem() == "6 is not an object; write {\"profile\": ...}");
        CHECK(error.others()[0].fault().value == "6");
        CHECK(error.others()[0].others().empty());
    }
}

TEST_CASE("faults: each section that is missing is one fault") {
    check_begin(faults("{}"), {"\"cluster\" is missing", "\"workload\" is missing",
                               "\"algorithm\" is missing", "\"stop\" is missing"});
}

TEST_CASE("faults: a text that is no JSON has one fault") {
    const ScenarioText broken{"s.json", R"({"cluster": {"nodes": "four"},, "stop": 3})",
                              in_memory({})};

    CHECK(faults(broken).size() == 1);
    CHECK(faults({"s.json", "[1, 2]", in_memory({})}).size() == 1);
}

TEST_CASE("faults: no more than twenty are named") {
    Json scenario = Json::parse(timing_scenario);
    for (int i = 0; i < 50; ++i) scenario["cluster"][fmt::format("strange{}", i)] = i;

    CHECK(faults(text_of(scenario)).size() == most_faults);
}

TEST_CASE("faults: below a section with a mistyped name, places are those of the user's words") {
    Json scenario = Json::parse(timing_scenario);
    scenario["clutser"] = scenario["cluster"];
    scenario.erase("cluster");
    scenario["clutser"]["nodes"] = 0;

    check_begin(faults(text_of(scenario)),
                {"clutser: \"clutser\" is not a key here; did you mean \"cluster\"?",
                 "clutser.nodes: 0 is not a whole number"});
}

// --- what only follows ---

// Each of these has one mistake, whatever else it is refused for.
TEST_CASE("faults: what only follows from another fault is not named") {
    const char* const fabric = R"("fabric": {"kind": "star", "link": {"preset": "1GbE-tcp"}})";
    const char* const timed = R"("workload": {"gradient": "4MB", "step_time": "5ms"})";
    const char* const trained =
        R"("batch": 16, "step_time": "5ms"}, "optimizer": {"learning_rate": 0.1})";
    const char* const ends = R"("stop": {"iterations": 10})";
    struct Case {
        const char* place;
        std::string scenario;
    };
    const std::vector<Case> cases{
        // Nodes that no number is known for, and what names one of them.
        {"cluster.nodes", fmt::format(R"({{"cluster": {{"nodes": "four", {}}}, {}, {},
            "algorithm": {{"kind": "dsgd", "mixing": {{"kind": "explicit",
                           "edges": [[0, 1], [1, 7]]}}}}}})",
                                      fabric, timed, ends)},
        {"cluster.nodes", fmt::format(R"({{"cluster": {{"nodes": "four", {}, "placement": [0, 7]}},
            {}, {}, "algorithm": {{"kind": "dense"}}}})",
                                      fabric, timed, ends)},
        {"cluster.nodes", fmt::format(R"({{"cluster": {{"nodes": -1, {}, "access": [{{"nodes": [9],
            "kind": "on-off", "on": "5s", "off": "5s"}}]}}, {}, {},
            "algorithm": {{"kind": "dense"}}}})",
                                      fabric, timed, ends)},
        {"cluster.nodes", fmt::format(R"({{"cluster": {{"nodes": "9", "fabric": {{"kind": "torus",
            "dims": [3, 3], "link": {{"preset": "1GbE-tcp"}}}}}}, {}, {},
            "algorithm": {{"kind": "dense"}}}})",
                                      timed, ends)},
        // A batch and a net that depend on the data.
        {"workload.data.train", fmt::format(R"({{"cluster": {{"nodes": 4, {}}},
            "workload": {{"model": {{"kind": "mlp", "hidden": [8]}},
                          "data": {{"kind": "digits", "train": "all", "test": 100}}, {},
            "algorithm": {{"kind": "dense"}}, "stop": {{"epochs": 3}}}})",
                                            fabric, trained)},
        {"workload.data.kind", fmt::format(R"({{"cluster": {{"nodes": 4, {}}},
            "workload": {{"model": {{"kind": "lstm"}}, "data": {{"kind": "novels"}}, {},
            "algorithm": {{"kind": "dense"}}, {}}})",
                                           fabric, trained, ends)},
        // Nothing trains because of the fault, so nothing else is wrong with training.
        {"workload.model", fmt::format(R"({{"cluster": {{"nodes": 4, {}}},
            "workload": {{"model": 7, "data": {{"kind": "digits", "train": 1024, "test": 100}}, {},
            "algorithm": {{"kind": "dense"}},
            "stop": {{"iterations": 10, "target_loss": 0.1}}}})",
                                       fabric, trained)},
        // Rules between keys: one needs the other, or excludes it.
        {"workload.batch", fmt::format(R"({{"cluster": {{"nodes": 4, {}}},
            "workload": {{"gradient": "4MB", "step_time": "5ms", "batch": "many",
                          "dataset_samples": 1000}},
            "algorithm": {{"kind": "dense"}}, "stop": {{"epochs": 2}}}})",
                                       fabric)},
        {"workload", fmt::format(R"({{"cluster": {{"nodes": 4, {}}},
            "workload": {{"profile": "alexnet", "gradient": "4MB", "step_time": "5ms"}},
            "algorithm": {{"kind": "dense"}}, {}}})",
                                 fabric, ends)},
        {"workload.device", fmt::format(R"({{"cluster": {{"nodes": 4, {}}},
            "workload": {{"profile": "alexnet", "device": 100, "batch": 32}},
            "algorithm": {{"kind": "dense"}}, {}}})",
                                        fabric, ends)},
        {"stop.iterations",
         fmt::format(R"({{"cluster": {{"nodes": 4, {}}}, {}, "measure": {{"skip": 200}},
            "algorithm": {{"kind": "dense"}}, "stop": {{"iterations": "1000"}}}})",
                     fabric, timed)},
        // What goes with one kind alone.
        {"algorithm.kind", fmt::format(R"({{"cluster": {{"nodes": 4, {}}}, {}, {},
            "algorithm": {{"kind": "local", "period": 4, "all_reduce": "ring"}}}})",
                                       fabric, timed, ends)},
        {"cluster.fabric.kind",
         fmt::format(R"({{"cluster": {{"nodes": 8, "fabric": {{"kind": "clos",
            "link": {{"preset": "1GbE-tcp"}}, "hosts_per_leaf": 4, "spines": 2}}}}, {}, {},
            "algorithm": {{"kind": "dense"}}}})",
                     timed, ends)},
        // What is missing may be what the unknown key was meant to be.
        {"cluster.workers", fmt::format(R"({{"cluster": {{"workers": 4, {}}}, {}, {},
            "algorithm": {{"kind": "dense"}}}})",
                                        fabric, timed, ends)},
        {"cluster.nodse", fmt::format(R"({{"cluster": {{"nodse": "four", {}}}, {}, {},
            "algorithm": {{"kind": "dense"}}}})",
                                      fabric, timed, ends)},
    };
    for (const Case& one : cases) {
        CAPTURE(one.scenario);
        check_begin(faults(one.scenario.c_str()), {fmt::format("{}: ", one.place)});
    }
}

TEST_CASE("faults: what does not depend on the fault before it is named beside it") {
    check_begin(faults(R"({
        "cluster": {"nodes": "four", "fabric": {"kind": "star", "link": {"preset": "1GbE-tcp"}}},
        "workload": {"gradient": "4MB", "step_time": "5ms"},
        "algorithm": {"kind": "dsgd", "mixing": {"kind": "explicit", "workers": 4,
                      "edges": [[0, 1], [1, 7]]}},
        "stop": {"epochs": 2}})"),
                {"cluster.nodes: \"four\"", "algorithm.mixing.edges[1][1]: 7 is not a whole number",
                 "stop.epochs: epochs need \"workload.batch\""});
}

// --- studies ---

TEST_CASE("faults: the axes of a sweep, their values and the rest of the study are named at once") {
    const auto messages = faults(R"({
        "cluster": {"nodes": 4, "fabric": {"kind": "star", "link": {"preset": "1GbE-tpc"}}},
        "workload": {"gradient": "4MB", "step_time": "5ms"},
        "algorithm": {"kind": "dense"},
        "stop": {"iterations": 1},
        "sweep": {"cluster.nodes": [2, "three", -4], "cluster.fabrik": [1], "workload.batch": [],
                  "algorithm": [{"kind": "dense"}, {"kind": "dgc", "density": 2},
                                {"kind": "dense", "label": "other", "strange": 2}]}})");

    check_begin(messages, {"sweep.cluster.fabrik: \"fabrik\" is not a key on this path",
                           "sweep.workload.batch: is empty",
                           "sweep.algorithm[1].density: 2 is not a number above 0",
                           "sweep.algorithm[2].strange: \"strange\" is not a key here",
                           "sweep.cluster.nodes[1]: \"three\" is not a whole number",
                           "sweep.cluster.nodes[2]: -4 is not a whole number"});
}

TEST_CASE("faults: a fault of all points is named once, and so is one of several values") {
    Json scenario = Json::parse(timing_scenario);
    scenario["stop"]["iterations"] = 0;
    scenario["sweep"] = Json::parse(R"({"cluster.nodes": [4, 8, 16], "seed": [1, 2, 3],
        "algorithm": [{"kind": "dense", "strange": 1}, {"kind": "dgc"},
                      {"kind": "dense", "label": "again", "strange": 1}]})");

    check_begin(faults(text_of(scenario)), {"sweep.algorithm[0].strange: ", "stop.iterations: 0"});
}

TEST_CASE("faults: what depends on an axis that was left out is not named") {
    Json scenario = Json::parse(timing_scenario);
    scenario["cluster"].erase("nodes");
    scenario["sweep"]["cluster.nodes"] = 4;

    check_begin(faults(text_of(scenario)), {"sweep.cluster.nodes: is not a list"});
}

TEST_CASE("faults: wrong settings and picks are named at once, and the scenario's own faults") {
    const Settings settings{"cluster.nodse=4",      "seed=5",        "nothing", "strange.key=3",
                            "stop.iterations=none", "sweep.seed=[1]"};
    Json scenario = Json::parse(timing_scenario);
    check_begin(faults(text_of(scenario), {settings.begin(), settings.begin() + 2}),
                {"command line: --set cluster.nodse: \"nodse\" is not a key on this path"});
    check_begin(faults(text_of(scenario), {settings[0], settings[3], settings[4]}),
                {"command line: --set cluster.nodse: ", "command line: --set strange.key: ",
                 "command line: --set stop.iterations: \"none\" is not a whole number"});
    check_begin(faults(text_of(scenario), settings),
                {"command line: --set cluster.nodse: ", "command line: --set: \"nothing\" is not",
                 "command line: --set strange.key: ", "command line: --set sweep.seed: "});

    scenario["cluster"]["nodes"] = "follows";  // may be what --set was to replace
    scenario["workload"]["batch"] = 0;
    check_begin(faults(text_of(scenario), {settings[0]}),
                {"command line: --set cluster.nodse: ", "workload.batch: 0 is not"});

    scenario["sweep"] = Json::parse(R"({"seed": [1, 2], "stop.iterations": [5, 6]})");
    check_begin(faults(text_of(scenario), {settings[0]}, {"seed=3", "iterations=5", "itself=1"}),
                {"command line: --pick seed=3: ", "command line: --pick itself=1: ",
                 "command line: --set cluster.nodse: "});
}

TEST_CASE("faults: a fault in a file that the scenario names stands beside those of the scenario") {
    Json scenario = Json::parse(timing_scenario);
    scenario["workload"] = Json::parse(R"({"profile": "net.json", "step_time": "5ms"})");
    scenario["cluster"]["nodes"] = 0;
    scenario["stop"]["iterations"] = 0;
    const std::map<std::string, std::string> files{{"net.json", R"({"name": 3, "layers": 4})"}};

    check_begin(faults(text_of(scenario, files)),
                {"cluster.nodes: 0", "net.json: ", "stop.iterations: 0"});
}

// --- faults at random ---

struct Plant {
    const char* object;
    const char* key;
    const char* value;  // empty: the key goes
    const char* place;  // of the fault
    const char* phrase;
};

const std::vector<Plant> faults_of_timing{
    {"", "seed", "-1", "seed", "is not a whole number"},
    {"", "strange", "1", "strange", "is not a key here"},
    {"cluster", "nodes", "\"four\"", "cluster.nodes", "is not a whole number"},
    {"cluster", "nods", "4", "cluster.nods", "did you mean \"nodes\"?"},
    {"cluster.fabric.link", "bandwidth", "\"1Gbit\"", "cluster.fabric.link.bandwidth",
     "is unknown"},
    {"cluster.fabric.link", "latency", "50", "cluster.fabric.link.latency", "is not a duration"},
    {"cluster.compute_jitter", "sigma", "\"much\"", "cluster.compute_jitter.sigma", "not a number"},
    {"cluster.stragglers", "factor", "-2", "cluster.stragglers.factor", "is not a number"},
    {"workload", "gradient", "\"4 parsecs\"", "workload.gradient", "is not a size"},
    {"workload", "batch", "0", "workload.batch", "is not a whole number"},
    {"workload", "step_time", "5", "workload.step_time", "is not a duration"},
    {"workload", "dataset_samples", "[]", "workload.dataset_samples", "is not a whole number"},
    {"algorithm", "density", "2", "algorithm.density", "is not a number"},
    {"algorithm", "colour", "2", "algorithm.colour", "is not a key here"},
    {"measure", "skip", "-1", "measure.skip", "is not a whole number"},
    {"", "stop", "", "", "\"stop\" is missing"},
    {"price", "up_per_gb", "-3", "price.up_per_gb", "is not a number from 0"},
    {"price", "currency", "\"EUR\"", "price.currency", "is not a key here"},
};
const std::vector<Plant> faults_of_training{
    {"", "version", "7", "version", "is not a version"},
    {"cluster", "nodes", "0.5", "cluster.nodes", "is not a whole number"},
    {"cluster.fabric.link", "preset", "\"1GbE-tpc\"", "cluster.fabric.link.preset",
     "not a link preset"},
    {"workload.data", "train", "\"many\"", "workload.data.train", "is not a whole number"},
    {"workload.data", "tests", "3", "workload.data.tests", "is not a key here"},
    {"workload.model", "hidden", "\"wide\"", "workload.model.hidden", ""},
    {"workload", "step_time", "true", "workload.step_time", "is not a duration"},
    {"optimizer", "learning_rate", "-1", "optimizer.learning_rate", "is not a number"},
    {"optimizer", "momentum", "1", "optimizer.momentum", "is not"},
    {"measure", "every", "3", "measure.every", ""},
    {"stop", "iterations", "1e99", "stop.iterations", "is not a whole number"},
};

Json& object_at(Json& scenario, const std::string& path) {
    Json* at = &scenario;
    if (!path.empty())
        for (const std::string& key : split_path(path)) at = &at->at(key);
    return *at;
}

// Returns the scenario with the keys of all objects in another order.
Json shuffled(const Json& json, std::mt19937& random) {
    if (!json.is_object()) return json;
    std::vector<std::string> keys;
    for (const auto& [key, value] : json.items()) keys.push_back(key);
    std::ranges::shuffle(keys, random);
    Json other = Json::object();
    for (const std::string& key : keys) other[key] = shuffled(json.at(key), random);
    return other;
}

void check_planted(const char* valid, std::vector<Plant> plants, unsigned seed) {
    std::mt19937 random(seed);
    std::ranges::shuffle(plants, random);
    plants.resize(1 + random() % 6);
    Json scenario = Json::parse(valid);
    for (const Plant& plant : plants) {
        Json& object = object_at(scenario, plant.object);
        if (*plant.value == '\0')
            object.erase(plant.key);
        else
            object[plant.key] = Json::parse(plant.value);
    }
    const ScenarioText text = text_of(shuffled(scenario, random));
    CAPTURE(text.text);
    const std::vector<std::string> found = faults(text);
    CAPTURE(fmt::format("{}", fmt::join(found, "\n")));
    CHECK(found.size() == plants.size());
    for (const Plant& plant : plants) {
        const std::string place = *plant.place == '\0' ? "" : fmt::format("{}: ", plant.place);
        CAPTURE(place);
        CHECK(std::ranges::any_of(found, [&](const std::string& message) {
            return message.starts_with(place) && message.find(plant.phrase) != std::string::npos;
        }));
    }
}

TEST_CASE("faults: of any that are planted, in any order of keys, exactly these are named") {
    for (unsigned seed = 0; seed < 150; ++seed) {
        CAPTURE(seed);
        check_planted(timing_scenario, faults_of_timing, seed);
        check_planted(training_scenario, faults_of_training, seed);
    }
}

TEST_CASE("faults: the scenarios in which faults are planted have none") {
    CHECK(faults(timing_scenario).empty());
    CHECK(faults(training_scenario).empty());
}

}  // namespace
}  // namespace paceline::faults_test
