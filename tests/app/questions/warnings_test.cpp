#include "app/questions/warnings/warnings.hpp"

#include <algorithm>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "app/run/run_point.hpp"
#include "app/study/study_file.hpp"
#include "tests/app/host/temporary_folder.hpp"
#include "tests/app/questions/warnings_of.hpp"
#include "tests/app/studies/training_study.hpp"

namespace paceline::warnings_test {
namespace {

constexpr std::string_view timing = R"({
  "cluster": {"nodes": 8,
              "fabric": {"kind": "star", "link": {"bandwidth": "10Gbps", "latency": "10us"}}},
  "workload": {"profile": "resnet-50", "step_time": "100ms"},
  "algorithm": {"kind": "dense"}, "stop": {"iterations": 10}})";

std::vector<std::string> warned(std::string_view json, const std::vector<std::string>& settings) {
    const TemporaryFolder folder;
    return warnings_of(read_study(folder.write("warned.json", std::string(json)), settings));
}

constexpr const char* leaf_spine = R"(cluster.fabric={"kind": "leaf-spine", "hosts_per_leaf": 4,
    "spines": 2, "link": {"bandwidth": "10Gbps"}})";
constexpr const char* slow_nodes = R"(cluster.stragglers={"nodes": [0], "factor": 4})";

// Two switches with four nodes each, 10 us from their switch, and a line of that latency between
// the switches.
std::string two_regions(std::string_view latency) {
    std::string cables;
    for (int node = 0; node < 8; ++node)
        cables += fmt::format(R"({{"between": [{}, "{}"]}}, )", node, node < 4 ? "a" : "b");
    return fmt::format(
        R"(cluster={{"nodes": 8, "fabric": {{"kind": "graph", "switches": ["a", "b"],
            "link": {{"bandwidth": "10Gbps", "latency": "10us"}},
            "cables": [{}{{"between": ["a", "b"], "link": {{"bandwidth": "10Gbps", "latency": "{}"}}}}]}}}})",
        cables, latency);
}

// What each kind is told of. One setting makes the difference to a scenario without warnings.
struct Case {
    std::string name;
    std::string_view json;
    std::vector<std::string> settings;
    std::string text;
};

std::vector<Case> cases() {
    return {
        {"unfinished-period",
         timing,
         {R"(algorithm={"kind": "local-sgd", "period": 8})"},
         "local-sgd: its 10 steps end within a period of 8 steps; step time, bytes per step and "
         "speedup cover the first 8"},
        {"no-whole-period",
         timing,
         {R"(algorithm={"kind": "local-sgd", "period": 12})"},
         "local-sgd: its 10 steps end before its first period, of 12 steps, is over"},
        {"no-whole-period",
         timing,
         {R"(algorithm={"kind": "local-sgd", "period": 12})", R"(stop={"time": "1s"})"},
         "use 12 steps or more"},
        {"no-rated-period",
         timing,
         {R"(algorithm={"kind": "local-sgd", "period": 8})", "measure.skip=2"},
         "local-sgd: its 10 steps end before a whole period follows the steps that "
         "\"measure.skip\" leaves out, 8 in whole periods; there will be no step time and no "
         "speedup; use 16 steps or more"},
        {"unfinished-warm-up",
         timing,
         {R"(algorithm={"kind": "one-bit-adam", "fused": true})"},
         "one-bit-adam: its 10 steps end within its warm-up, which lasts 100000 steps"},
        {"unfinished-warm-up",
         timing,
         {R"(algorithm={"kind": "gradient-dropping"})", R"(stop={"time": "500ms"})"},
         "its 5 steps end within its warm-up"},
        {"one-by-one",
         timing,
         {R"(algorithm={"kind": "one-bit-adam", "freeze_step": 1})"},
         "tensors are exchanged one by one"},
        {"flat-over-machines",
         timing,
         {R"(cluster={"devices": 16, "devices_per_node": 4, "bus": {"kind": "switched", "link": {"preset": "pcie-3.0-x16"}}, "fabric": {"kind": "star", "link": {"preset": "1GbE-ideal"}}})",
          R"(workload={"profile": "resnet-50", "gradient_time": "100ms"})",
          R"(algorithm={"kind": "dgc", "density": 0.01})"},
         "dgc: its exchange is flat over machines of 4 devices"},
        {"unlike-hops",
         timing,
         {two_regions("5ms")},
         "dense: its ring takes 20us from machine 0 to 1 and 5.02ms from 3 to 4, and each round "
         "waits for the longest hop"},
        {"unlike-hops",
         timing,
         {two_regions("5ms"), R"(algorithm={"kind": "zero", "stage": 3})"},
         "zero: its ring takes 20us from machine 0 to 1 and 5.02ms from 3 to 4"},
        {"unlike-hops",
         timing,
         {two_regions("5ms"), R"(cluster.library={"preset": "nccl"})",
          R"(algorithm={"kind": "dense", "all_reduce": "library"})"},
         "dense: its ring takes 20us from machine 0 to 1 and 5.02ms from 3 to 4"},
        {"unbounded-connections",
         timing,
         {R"(cluster.fabric={"kind": "star", "link": {"bandwidth": "100Gbps"}})",
          R"(cluster.transport={"kind": "tcp"})"},
         "each connection of \"cluster.transport\" may fill a link of 100Gbps; measured "
         "connections"},
        {"unlike-validated",
         timing,
         {R"(algorithm={"kind": "ad-psgd"})", "measure.interval=true"},
         "ad-psgd: its workers do not wait for each other, and no system of this kind was "
         "validated"},
        {"hierarchy-is-a-ring",
         timing,
         {R"(algorithm={"kind": "dense", "all_reduce": "hierarchical"})"},
         "dense: its all-reduce is hierarchical, and each machine has one device, so it works as a "
         "ring"},
        {"wide-wire",
         timing,
         {R"(workload={"profile": "resnet-50", "device": "v100", "precision": "fp16",
             "efficiency": 0.4, "batch": 32})"},
         "dense: computes in fp16 and sends 32 bits per number, the default, "},
        {"beyond-memory",
         timing,
         {R"(workload={"profile": "llama-7b", "step_time": "1s", "batch": 1, "device_memory": "80GB"})",
          R"(algorithm={"kind": "adam", "wire": "bf16"})"},
         "adam: does not fit: a device of 80 GB would hold 107.8 GB, 13.5 parameters, 13.5 "
         "gradients, 80.9 optimizer; activations are not included"},
        {"more-than-dense",
         timing,
         {R"(algorithm={"kind": "power-sgd", "rank": 1000})"},
         "power-sgd: what it sends for a gradient is"},
        {"more-than-dense",
         timing,
         {R"(algorithm={"kind": "gtop-k", "density": 0.6})"},
         "is 123 MB, 1.2 times as much as the gradient itself (102 MB)"},
        {"more-than-dense",
         timing,
         {R"(algorithm={"kind": "demo", "components": 64, "chunk": 8})"},
         "demo: what it sends for a gradient is"},
        {"beyond-the-clock",
         timing,
         {"stop.iterations=1000000000000", "workload.step_time=10s"},
         "1000000000000 steps of about 10.1 s exceed the 106 days"},
        {"no-whole-step",
         timing,
         {R"(stop={"time": "90ms"})"},
         "\"stop.time\", 90ms, ends the run before its first step, of about 0.243 s"},
        {"no-progress",
         timing,
         {R"(cluster.failures={"mean_between": "2s", "mean_repair": "1s", "on_death": "restart",
                               "checkpoint": {"every": "10s", "write": "1s", "read": "1s"}})"},
         "dense: a node fails every 0.25 s, and a checkpoint needs"},
        {"no-progress",
         timing,
         {R"(cluster.failures={"mean_between": "2s", "mean_repair": "1s", "on_death": "stall"})",
          "workload.step_time=2s"},
         "without a failure, all nodes present, which happens once in"},
        {"no-progress",
         timing,
         {R"(cluster.failures={"mean_between": "10s", "mean_repair": "1s"})"},
         "s without a failure, which happens once in about"},
        {"no-progress",
         timing,
         {R"(cluster.failures={"mean_between": "1s", "mean_repair": "1s"})",
          "workload.step_time=10s", R"(algorithm={"kind": "dsgd", "mixing": {"kind": "ring"}})"},
         "dsgd: a node fails every 1 s, and a step needs"},
        {"time-stands-still",
         timing,
         {R"(stop={"time": "90ms"})", "workload.step_time=0s", "cluster.nodes=1"},
         "its steps take no time"},
        {"default-evaluations",
         small_training,
         {"measure={}", "stop.target_accuracy=0.9", "stop.iterations=20"},
         "by default, it is evaluated after every epoch, which is 8 iterations"},
        {"late-evaluations",
         small_training,
         {"measure.every=6 iterations", "measure.target_loss=0.1"},
         "at the start and at the end"},
        {"late-evaluations",
         small_training,
         {"measure.every=1s", "stop.target_loss=0.1", "stop.time=1s"},
         "evaluated only at the start"},
        {"batch-beyond-shard",
         small_training,
         {"workload.batch=200"},
         "a batch of 200 is larger than the smallest shard, of 64 samples"},
        {"batch-beyond-shard",
         small_training,
         {"workload.data.classes=2", "workload.data.components=2",
          R"(workload.data.partition={"kind": "dirichlet", "alpha": 0.001})"},
         "is larger than the smallest shard, of 1 samples"},
        {"one-class",
         small_training,
         {"workload.data.classes=1", "workload.data.components=1"},
         "training samples are of one class"},
        {"equal-steps",
         timing,
         {R"(algorithm={"kind": "ps-async"})", slow_nodes},
         "ps-async: stops after the same number of steps of each worker"},
        {"drawn-routes",
         timing,
         {leaf_spine},
         "the seed decides which of the equally short routes"},
        {"mixing-in-parts",
         timing,
         {R"(algorithm={"kind": "dsgd", "mixing": {"kind": "explicit", "edges": [[0, 1]]}})"},
         "parts that never communicate with each other; rho is 1"},
        {"unsuited-mixing",
         timing,
         {R"(algorithm={"kind": "decentlam", "mixing": {"kind": "exponential"}})"},
         "DecentLaM needs a symmetric W"},
    };
}

TEST_CASE("warnings: each kind is told, by its name, where it applies, and nothing else is") {
    std::set<std::string, std::less<>> told;
    for (const Case& one : cases()) {
        CAPTURE(one.name);
        CAPTURE(fmt::format("{}", fmt::join(one.settings, "\n")));

        const std::vector<std::string> lines = warned(one.json, one.settings);

        REQUIRE(lines.size() == 1);
        CHECK(lines[0].find(one.text) != std::string::npos);
        CHECK(lines[0].ends_with(fmt::format(" [{}]", one.name)));
        CHECK(lines[0].find('\n') == std::string::npos);
        told.insert(one.name);
    }
    for (const WarningKind& kind : warning_kinds()) {
        CAPTURE(kind.name);
        CHECK(told.contains(kind.name));
    }
}

TEST_CASE("warnings: scenarios without fault have none") {
    CHECK(warned(timing, {}).empty());
    CHECK(warned(small_training, {}).empty());
    const std::vector<std::vector<std::string>> fine{
        {R"(algorithm={"kind": "local-sgd", "period": 5})"},
        {R"(algorithm={"kind": "zero-one-adam", "fused": true, "var_freeze_step": 1,
            "local_step_clipper": 1})"},
        {R"(algorithm={"kind": "one-bit-adam", "freeze_step": 1, "fused": true})"},
        {R"(algorithm={"kind": "one-bit-adam", "freeze_step": 1})", "cluster.nodes=1"},
        {R"(algorithm={"kind": "ps-async"})"},
        {"stop.iterations=1000000"},
        {"stop.iterations=1000000000000", "stop.time=1s"},
        {leaf_spine, "cluster.nodes=4"},  // all on one leaf
        {R"(cluster.fabric={"kind": "leaf-spine", "hosts_per_leaf": 4, "spines": 2,
            "link": {"bandwidth": "10Gbps"}, "uplink": {"bandwidth": "40Gbps"}})"}};
    for (const std::vector<std::string>& settings : fine) {
        CAPTURE(settings[0]);
        CHECK(warned(timing, settings).empty());
    }
    CHECK(warned(timing, {leaf_spine, "stop.iterations=10", "seed=1"}).size() == 1);
}

TEST_CASE("warnings: a swept seed shows what the draw of routes does, so it is not warned of") {
    std::string json(timing);
    json.insert(json.rfind('}'), R"(, "sweep": {"seed": [1, 2, 3]})");

    CHECK(warned(json, {leaf_spine}).empty());
}

TEST_CASE("warnings: one line for each label, with the number of points") {
    std::string json(timing);
    json.insert(json.rfind('}'), R"(, "sweep": {"stop.iterations": [8, 9, 10, 16],
        "algorithm": [{"label": "a", "kind": "local-sgd", "period": 8}, {"label": "b", "kind": "bmuf", "period": 8}]})");

    const std::vector<std::string> lines = warned(json, {});

    REQUIRE(lines.size() == 2);
    CHECK(lines[0].starts_with("a: its 9 steps end"));
    CHECK(lines[0].ends_with("; this applies to 2 points [unfinished-period]"));
    CHECK(lines[1].starts_with("b: its 9 steps end"));
}

TEST_CASE("warnings: jobs beside the main one have theirs") {
    const std::vector<std::string> lines =
        warned(timing, {"cluster.placement=even", R"(other_jobs=[{"label": "b", "nodes": "odd",
            "workload": {"gradient": "4MB", "step_time": "1ms"},
            "algorithm": {"kind": "local-sgd", "period": 4}, "stop": {"iterations": 11}}])"});

    REQUIRE(lines.size() == 1);
    CHECK(lines[0].starts_with("local-sgd (b): its 11 steps end"));
}

// The oracle is the simulation: the steps after the first ten are all of the last stage.
TEST_CASE("warnings: the times of tensors one by one and as one are those of the runs") {
    const auto step_s = [](const std::string& fused) {
        const auto end_s = [&](const char* steps) {
            const TemporaryFolder folder;
            const Study study = read_study(
                folder.write("fused.json", std::string(timing)),
                {R"(algorithm={"kind": "one-bit-adam", "freeze_step": 5, "fused": )" + fused + "}",
                 steps});
            return run_point(study.points.front().scenario, nullptr).sim_time_s;
        };
        return (end_s("stop.iterations=20") - end_s("stop.iterations=10")) / 10;
    };
    const std::vector<std::string> lines =
        warned(timing, {R"(algorithm={"kind": "one-bit-adam", "freeze_step": 5})"});

    REQUIRE(lines.size() == 1);
    std::smatch found;
    REQUIRE(std::regex_search(lines[0], found,
                              std::regex("by one, ([0-9.]+) s per step .* true, ([0-9.]+) s")));
    CHECK(std::stod(found[1]) == doctest::Approx(step_s("false")).epsilon(5e-3));
    CHECK(std::stod(found[2]) == doctest::Approx(step_s("true")).epsilon(5e-3));
}

// The oracle is the simulation, flat and by machine.
TEST_CASE(
    "warnings, property: the times of a flat exchange and of one by machine are those of runs") {
    int told = 0;
    for (const int devices : {2, 4, 8})
        for (const int machines : {2, 4, 16})
            for (const char* law : {"worst-case", "independent"}) {
                const std::string cluster = fmt::format(
                    R"(cluster={{"devices": {}, "devices_per_node": {},
                        "bus": {{"kind": "switched", "link": {{"bandwidth": "12GBps", "latency": "3us"}}}},
                        "fabric": {{"kind": "star", "link": {{"bandwidth": "2Gbps", "latency": "20us"}}}}}})",
                    machines * devices, devices);
                const std::string net =
                    R"(workload={"profile": "resnet-50", "gradient_time": "100ms"})";
                const auto dgc = [&](const char* by) {
                    return fmt::format(
                        R"(algorithm={{"kind": "dgc", "density": 0.003, "density_law": "{}",
                            "uncompressed": "gathered",
                            "aggregation": {{"kind": "sparse-all-reduce", "machines": "{}"}}}})",
                        law, by);
                };
                CAPTURE(cluster);
                CAPTURE(law);
                const auto step_s = [&](const char* by) {
                    const TemporaryFolder folder;
                    const Study study = read_study(folder.write("a.json", std::string(timing)),
                                                   {cluster, net, dgc(by), "stop.iterations=2"});
                    const Metrics m = run_point(study.points.front().scenario, nullptr);
                    CHECK(m.step_time_s.value() ==
                          doctest::Approx(m.model_step_time_s.value()).epsilon(1e-8));
                    return m.step_time_s.value();
                };
                const double flat = step_s("flat");
                const double leaders = step_s("leaders");

                const std::vector<std::string> lines = warned(timing, {cluster, net, dgc("flat")});

                CHECK(lines.size() == (flat >= 1.5 * leaders ? 1 : 0));
                CHECK(warned(timing, {cluster, net, dgc("leaders")}).empty());
                if (lines.empty()) continue;
                ++told;
                std::smatch found;
                REQUIRE(std::regex_search(
                    lines[0], found,
                    std::regex("([0-9.]+) s for a step .* aggregation, ([0-9.]+) s")));
                CHECK(std::stod(found[1]) == doctest::Approx(flat).epsilon(5e-3));
                CHECK(std::stod(found[2]) == doctest::Approx(leaders).epsilon(5e-3));
            }
    CHECK(told > 5);
}

// With a long latency, a flat ring of all devices would be several times slower than one of
// machines.
constexpr const char* in_bf16 = R"(workload={"profile": "resnet-50", "device": "a100-80gb",
    "precision": "bf16", "efficiency": 0.4, "batch": 32})";

// The oracle is the simulation with "wire" as it is and as the warning would have it.
TEST_CASE("warnings: the times of 32 and of 16 bits a number are those of the runs") {
    for (const char* algorithm :
         {R"({"kind": "dense"})", R"({"kind": "adam", "schedule": "tensors"})",
          R"({"kind": "sgd", "schedule": "25MiB"})", R"({"kind": "zero", "stage": 3})",
          R"({"kind": "local-sgd", "period": 5})", R"({"kind": "diloco", "period": 5})",
          R"({"kind": "dmsgd", "mixing": {"kind": "ring"}})",
          R"({"kind": "sgd", "aggregation": {"kind": "servers", "servers": "workers"}})"}) {
        CAPTURE(algorithm);
        const auto told = [&](const std::string& wire) {
            Json written = Json::parse(algorithm);
            if (!wire.empty()) written["wire"] = wire;
            return std::vector<std::string>{in_bf16, "algorithm=" + written.dump()};
        };
        const auto step_s = [&](const std::string& wire) {
            const TemporaryFolder folder;
            const Study study =
                read_study(folder.write("wired.json", std::string(timing)), told(wire));
            const Metrics metrics = run_point(study.points.front().scenario, nullptr);
            return fmt::format("{:.3g} s", metrics.sim_time_s / 10);
        };
        const std::vector<std::string> lines = warned(timing, told(""));

        REQUIRE(lines.size() == 1);
        CHECK(lines[0].find(fmt::format("the default, {} per step by the closed form; with 16, "
                                        "\"wire\": \"bf16\", {}; set \"wire\": \"fp32\"",
                                        step_s("fp32"), step_s("bf16"))) != std::string::npos);
        CHECK(step_s("fp32") != step_s("bf16"));
        CHECK(warned(timing, told("fp32")).empty());
        CHECK(warned(timing, told("bf16")).empty());
    }
}

TEST_CASE("warnings: of the wire, only 16 bits that are computed and 32 that are sent unasked") {
    const auto workload = [](const std::string& precision) {
        return R"(workload={"profile": "resnet-50", "device": "a100-80gb", "efficiency": 0.4,
            "batch": 32, "precision": ")" +
               precision + "\"}";
    };
    for (const char* precision : {"fp32", "tf32"})
        CHECK(warned(timing, {workload(precision)}).empty());
    for (const char* precision : {"fp16", "bf16"})
        CHECK(warned(timing, {workload(precision)}).size() == 1);
    CHECK(warned(timing, {in_bf16, "cluster.nodes=1"}).empty());
    for (const std::string coded : {R"({"kind": "dgc"})", R"({"kind": "power-sgd"})",
                                    R"({"kind": "demo"})", R"({"kind": "sgd", "codec": "fp16"})",
                                    R"({"kind": "swarm-sgd", "mixing": {"kind": "complete"},
              "exchange": {"kind": "lattice", "bits": 8, "step": 0.01}})"}) {
        CAPTURE(coded);
        CHECK(warned(timing, {in_bf16, "algorithm=" + coded}).empty());
    }
    const std::vector<std::string> lines =
        warned(timing, {in_bf16, leaf_spine, "cluster.nodes=4",
                        R"(cluster.stragglers={"nodes": [0], "factor": 4})"});
    REQUIRE(lines.size() >= 1);
    CHECK(lines[0].find("in bf16 and sends 32 bits per number, the default; \"wire\": \"bf16\" "
                        "sends 16; set") != std::string::npos);
}

// The oracle is what a worker contributes with the "wire" of which the warning speaks.
TEST_CASE("warnings: whoever is told of the wire sends half as much with the other one") {
    const auto kind = std::ranges::find(warning_kinds(), "wide-wire", &WarningKind::name);
    Json study =
        Json::parse(content(std::string(PACELINE_SOURCE_DIR) + "/scenarios/all-algorithms.json"));
    const Json algorithms = study.at("sweep").at("algorithm");
    for (const char* key : {"$schema", "sweep"}) study.erase(key);
    study["workload"]["stand_in_for"] = {{"profile", "resnet-50"},
                                         {"device", "a100-80gb"},
                                         {"precision", "bf16"},
                                         {"efficiency", 0.4},
                                         {"batch", 64}};
    const TemporaryFolder folder;
    const auto scenario_of = [&](const Json& algorithm) {
        study["algorithm"] = algorithm;
        return read_study(folder.write("one.json", study.dump()), {}).points.front().scenario;
    };
    std::size_t told = 0;
    for (Json algorithm : algorithms) {
        CAPTURE(algorithm.dump());
        const Scenario as_it_is = scenario_of(algorithm);
        if (kind->text(as_it_is).empty()) continue;
        ++told;
        algorithm["wire"] = "bf16";
        const Scenario narrow = scenario_of(algorithm);
        const auto sent = [](const Scenario& scenario) {
            return scenario.algorithm.contribution(*scenario.workload.layout, 1000, 10.0).count;
        };

        CHECK(static_cast<double>(sent(as_it_is)) ==
              doctest::Approx(2.0 * static_cast<double>(sent(narrow))).epsilon(1e-6));
        CHECK(kind->text(narrow).empty());
    }
    CHECK(told >= 20);
}

TEST_CASE("warnings: only methods whose step is that exchange are told that it is flat") {
    const std::string cluster =
        R"(cluster={"devices": 64, "devices_per_node": 8,
            "bus": {"kind": "switched", "link": {"bandwidth": "12GBps", "latency": "3us"}},
            "fabric": {"kind": "star", "link": {"bandwidth": "100Gbps", "latency": "1ms"}}})";
    const std::string net = R"(workload={"profile": "resnet-50", "gradient_time": "10ms"})";
    const auto is_told = [&](const std::string& algorithm) {
        const std::vector<std::string> lines =
            warned(timing, {cluster, net, "algorithm=" + algorithm, "stop.iterations=16"});
        return std::ranges::any_of(lines, [](const std::string& line) {
            return line.find("[flat-over-machines]") != std::string::npos;
        });
    };
    for (const char* told :
         {R"({"kind": "dense"})", R"({"kind": "adam"})", R"({"kind": "local-sgd", "period": 8})",
          R"({"kind": "sgd", "codec": "qsgd", "aggregation": "all-gather"})"}) {
        CAPTURE(told);
        CHECK(is_told(told));
    }
    for (const char* other :
         {R"({"kind": "dsgd", "mixing": {"kind": "ring"}})",
          R"({"kind": "sgp", "mixing": {"kind": "one-peer-exponential"}})", R"({"kind": "sparta"})",
          R"({"kind": "ad-psgd"})", R"({"kind": "streaming-diloco", "period": 8, "fragments": 2})",
          R"({"kind": "dense", "all_reduce": "hierarchical"})"}) {
        CAPTURE(other);
        CHECK_FALSE(is_told(other));
    }
}

bool is_warned(const std::vector<std::string>& lines, std::string_view name) {
    return std::ranges::any_of(lines, [name](const std::string& line) {
        return line.find(fmt::format("[{}]", name)) != std::string::npos;
    });
}

// A hop within a region has 20 us, so one of 200 us between them is not yet ten times as long.
TEST_CASE("warnings: hops of a ring are unlike from more than ten times the latency on") {
    for (const auto& [line, is_told] :
         {std::pair{"0s", false}, std::pair{"180us", false}, std::pair{"181us", true}}) {
        CAPTURE(line);
        CHECK(is_warned(warned(timing, {two_regions(line)}), "unlike-hops") == is_told);
    }
}

TEST_CASE(
    "warnings: whatever goes around a ring of machines is told of unlike hops, nothing else") {
    const auto is_told = [](const std::string& algorithm) {
        return is_warned(warned(timing, {two_regions("5ms"), "algorithm=" + algorithm}),
                         "unlike-hops");
    };
    for (const char* ring :
         {R"({"kind": "dense", "all_reduce": {"kind": "pipelined-ring"}})", R"({"kind": "ddp"})",
          R"({"kind": "zero", "stage": 1})", R"({"kind": "local-sgd", "period": 5})",
          R"({"kind": "sgd", "codec": "qsgd", "aggregation": {"kind": "all-gather"}})",
          R"({"kind": "collective", "operation": "reduce-scatter"})"}) {
        CAPTURE(ring);
        CHECK(is_told(ring));
    }
    for (const char* other :
         {R"({"kind": "dense", "all_reduce": "halving-doubling"})",
          R"({"kind": "dense", "all_reduce": "tree"})", R"({"kind": "ad-psgd"})",
          R"({"kind": "collective", "operation": "all-to-all"})",
          R"({"kind": "sgd", "codec": "qsgd", "aggregation": {"kind": "two-phase"}})",
          R"({"kind": "sgd", "aggregation": {"kind": "all-gather", "how": "bruck"}})"}) {
        CAPTURE(other);
        CHECK_FALSE(is_told(other));
    }
}

// The oracle of what the warning says is the simulation: without bandwidth limits, 14 rounds of a
// ring take 14 times the longest hop.
TEST_CASE("warnings: the rounds of a ring of unlike hops wait for the longest") {
    const TemporaryFolder folder;
    const Study study = read_study(
        folder.write("far.json", std::string(timing)),
        {two_regions("5ms"), R"(algorithm={"kind": "collective", "operation": "all-reduce"})",
         R"(workload={"profile": "resnet-50", "step_time": "0s"})", "stop.iterations=1"});
    const double rounds_s = 14 * 5.02e-3;
    const Metrics far = run_point(study.points.front().scenario, nullptr);
    CHECK(far.sim_time_s >= rounds_s);
    CHECK(far.sim_time_s <= rounds_s + 14 * (102.3e6 / 8 / 1.25e9));  // and 14 chunks on the line
}

// The buses of machines are no hops between them.
TEST_CASE("warnings: whatever bounds a connection, or a line that one fills, is no unbounded one") {
    const auto is_told = [](const std::string& bandwidth, const std::string& transport) {
        return is_warned(
            warned(
                timing,
                {fmt::format(R"(cluster.fabric={{"kind": "star", "link": {{"bandwidth": "{}"}}}})",
                             bandwidth),
                 "cluster.transport=" + transport}),
            "unbounded-connections");
    };
    CHECK(is_told("31Gbps", R"({"kind": "tcp"})"));
    CHECK_FALSE(is_told("30Gbps", R"({"kind": "tcp"})"));
    CHECK_FALSE(is_told("100Gbps", R"({"kind": "ideal"})"));
    for (const char* bound : {R"("flow_rate": "10Gbps")", R"("window": "4MiB")",
                              R"("host_rate": "40Gbps")", R"("preset": "one-thread")"})
        CHECK_FALSE(is_told("100Gbps", fmt::format(R"({{"kind": "tcp", {}}})", bound)));
}

TEST_CASE("warnings: short buses beside a long network are no unlike hops") {
    CHECK_FALSE(is_warned(
        warned(timing, {R"(cluster={"nodes": 8, "devices_per_node": 4,
                   "bus": {"kind": "switched", "link": {"bandwidth": "100GBps", "latency": "1us"}},
                   "fabric": {"kind": "leaf-spine", "hosts_per_leaf": 4, "spines": 1,
                              "link": {"bandwidth": "100Gbps", "latency": "50us"}}})",
                        R"(workload={"profile": "resnet-50", "gradient_time": "100ms"})"}),
        "unlike-hops"));
}

// The oracle is the simulation: told of the hierarchy exactly where it takes as long as a ring.
TEST_CASE("warnings: a hierarchy is told to be a ring where both take the same time") {
    for (const auto& [nodes, devices] :
         {std::pair{1, 4}, std::pair{4, 1}, std::pair{2, 2}, std::pair{4, 4}, std::pair{8, 1}}) {
        CAPTURE(nodes);
        CAPTURE(devices);
        const std::string bus =
            devices == 1
                ? ""
                : R"("bus": {"kind": "switched", "link": {"bandwidth": "12GBps", "latency": "3us"}},)";
        const std::string cluster = fmt::format(
            R"(cluster={{"nodes": {}, "devices_per_node": {}, {}
                "fabric": {{"kind": "star", "link": {{"bandwidth": "10Gbps", "latency": "20us"}}}}}})",
            nodes, devices, bus);
        const std::string net = R"(workload={"profile": "resnet-50", "gradient_time": "100ms"})";
        const auto by = [](std::string_view plan) {
            return fmt::format(R"(algorithm={{"kind": "dense", "all_reduce": "{}"}})", plan);
        };
        const auto time_s = [&](std::string_view plan) {
            const TemporaryFolder folder;
            const Study study = read_study(folder.write("a.json", std::string(timing)),
                                           {cluster, net, by(plan), "stop.iterations=1"});
            return run_point(study.points.front().scenario, nullptr).sim_time_s;
        };
        CHECK(is_warned(warned(timing, {cluster, net, by("hierarchical")}),
                        "hierarchy-is-a-ring") == (time_s("hierarchical") == time_s("ring")));
        CHECK_FALSE(is_warned(warned(timing, {cluster, net, by("ring")}), "hierarchy-is-a-ring"));
    }
}

TEST_CASE("warnings: docs/warnings.md has a section for each kind, and for no other") {
    const std::string page = content(std::string(PACELINE_SOURCE_DIR) + "/docs/warnings.md");
    const std::regex heading("\n## `([a-z-]+)`\n");
    std::vector<std::string> headings;
    for (std::sregex_iterator at(page.begin(), page.end(), heading), end; at != end; ++at)
        headings.push_back((*at)[1]);
    std::vector<std::string> kinds;
    for (const WarningKind& kind : warning_kinds()) kinds.emplace_back(kind.name);

    CHECK(headings == kinds);
}

}  // namespace
}  // namespace paceline::warnings_test
