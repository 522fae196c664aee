// Tokens, operations, memory, energy and money of runs, against published tables, closed forms and
// sums by hand.
#include "app/run/accounts.hpp"

#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/run/run_point.hpp"
#include "app/study/study_file.hpp"
#include "tests/app/host/temporary_folder.hpp"
#include "tests/app/studies/training_study.hpp"

namespace paceline::accounts_test {
namespace {

using doctest::Approx;

Metrics run(const Json& base, const std::string& changes = "{}") {
    Json json = base;
    json.merge_patch(Json::parse(changes));
    const TemporaryFolder folder;
    const Study study = read_study(folder.write("accounts.json", json.dump()), {});
    return run_point(study.points.front().scenario, nullptr);
}

struct Row {
    const char* name;
    const char* sizes;
    double peak;
    int batch;
    double mfu;
    double tokens_per_s;
    int devices;
};

// mosaicml/llm-foundry, scripts/train/benchmarking/README.md at 8c8dd48: MFU and tokens per second
// without recomputation. It counts six operations for each parameter, also of positions, biases and
// norms.
TEST_CASE("accounts: tokens a second at a published MFU are the published ones, to 0.5 %") {
    const char* const mpt_1b = R"({"layers": 24, "width": 2048, "heads": 16})";
    const char* const mpt_7b = R"({"layers": 32, "width": 4096, "heads": 32})";
    for (const Row& row : {Row{"1b, H100", mpt_1b, 989.4e12, 14, 0.4182, 363645, 8},
                           Row{"1b, A100", mpt_1b, 312e12, 8, 0.5623, 154171, 8},
                           Row{"7b, H100", mpt_7b, 989.4e12, 6, 0.4644, 85144, 8}}) {
        CAPTURE(row.name);
        Json json = Json::parse(R"({"cluster": {"nodes": 1, "fabric": {"kind": "star",
            "link": {"bandwidth": "1Gbps"}}}, "algorithm": {"kind": "dense"},
            "measure": {"resources": true}, "stop": {"iterations": 2}})");
        Json sizes = Json::parse(row.sizes);
        sizes["vocabulary"] = 50368;
        sizes["context"] = 2048;
        json["workload"] = {{"profile", {{"transformer", sizes}}},
                            {"device", {{"peak_flops", row.peak}, {"efficiency", row.mfu}}},
                            {"batch", row.batch}};
        const Metrics m = run(json);
        CHECK(m.mfu.value() == Approx(row.mfu).epsilon(1e-9));
        CHECK(row.devices * m.tokens_per_s.value() == Approx(row.tokens_per_s).epsilon(0.005));
        if (row.sizes == mpt_1b) CHECK(m.parameters.value() == 1'315'950'592);
    }
}

const Json four_devices = Json::parse(R"({
    "cluster": {"nodes": 4, "fabric": {"kind": "star", "link": {"bandwidth": "1Gbps", "latency": "25us"}}},
    "workload": {"gradient": "8MB", "step_time": "10ms"},
    "algorithm": {"kind": "dense"}, "stop": {"iterations": 20}})");

// A step is 10 ms of computing and a ring of 2 x 3 x (16 ms + 50 us) by its closed form: 96.3 ms.
TEST_CASE("accounts: energy and money of a run are a sum by hand over its closed form") {
    const Metrics m = run(four_devices, R"({
        "power": {"computing": 400, "communicating": 100, "host": 250, "port": 5, "overhead": 1.2},
        "price": {"up_per_gb": 0.5, "per_device_hour": 3600, "per_kwh": 1000}})");
    const double computing_s = 20 * 0.010;
    const double waiting_s = 20 * 6 * (0.016 + 50e-6);
    const double run_s = computing_s + waiting_s;
    const double joules =
        4 * (400 * computing_s + 100 * waiting_s) + 4 * 250 * run_s + 4 * 5 * run_s;
    const double kwh = 1.2 * joules / 3.6e6;
    CHECK(m.sim_time_s == Approx(run_s));
    CHECK(m.device_hours.value() == Approx(4 * run_s / 3600));
    CHECK(m.energy_kwh.value() == Approx(kwh).epsilon(1e-9));
    CHECK(m.cost.value() == Approx(0.5 * 4 * 20 * 12e-3 + 4 * run_s + 1000 * kwh).epsilon(1e-9));
}

TEST_CASE("accounts: what nobody asks for is not there") {
    const Metrics m = run(four_devices);
    for (const auto& value :
         {m.activations_gb, m.memory_share, m.tokens_per_s, m.mfu, m.parameters, m.flops_per_sample,
          m.device_hours, m.energy_kwh, m.cost, m.cost_to_target, m.energy_to_target_kwh})
        CHECK(!value);
}

TEST_CASE("accounts: a straggler makes the others wait, and an absence is not paid for") {
    const char* const power = R"("power": {"computing": 100, "communicating": 10, "waiting": 1})";
    const Metrics m = run(four_devices, fmt::format(R"({{
        "cluster": {{"stragglers": {{"nodes": [0], "factor": 11}}, "fabric": {{"link": {{"latency": "0s"}}}}}},
        "workload": {{"gradient": "8kB"}}, {}}})",
                                                    power));
    // 0.11 s of a gradient, of which three devices wait for 0.1; rings of 6 x 16 us.
    const double joules = 20 * (100 * (0.110 + 3 * 0.010) + 1 * 3 * 0.100 + 10 * 4 * 96e-6);
    CHECK(m.energy_kwh.value() * 3.6e6 == Approx(joules).epsilon(1e-6));

    const Metrics away = run(four_devices, R"({"measure": {"resources": true},
        "cluster": {"failures": {"schedule": [{"node": 2, "at": "0.3s", "for": "0.5s"}],
                                 "detection": "10ms"}}})");
    CHECK(away.away_share.value() * 4 * away.sim_time_s >= 0.5);
    CHECK(away.device_hours.value() * 3600 ==
          Approx(4 * away.sim_time_s * (1 - away.away_share.value())).epsilon(1e-9));
}

TEST_CASE("accounts: a run that ends at its target has taken by then what it takes at all") {
    const TrainingStudy training;
    const Metrics all = training.run();
    const Metrics m =
        training.run({fmt::format("stop.target_loss={}", all.timeline.at(2).train_loss * 1.0001),
                      R"(price={"up_per_gb": 2, "down_per_gb": 1, "per_device_hour": 3})",
                      R"(power={"computing": 250, "communicating": 80, "host": 100, "port": 2})"});
    REQUIRE(m.outcome == "target");
    CHECK(m.cost_to_target.value() == m.cost.value());
    CHECK(m.energy_to_target_kwh.value() == m.energy_kwh.value());
    CHECK(m.cost.value() > 0);
}

TEST_CASE("accounts: tokens end a run as their samples do") {
    const Json gpt2 = Json::parse(R"({
        "cluster": {"nodes": 2, "fabric": {"kind": "star", "link": {"bandwidth": "10Gbps"}}},
        "workload": {"profile": "gpt2", "step_time": "10ms", "batch": 4},
        "algorithm": {"kind": "dense"}, "stop": {"tokens": 40000}})");
    CHECK(run(gpt2).iterations == 5);  // 40 sequences of 1024, 8 in a step
    CHECK(run(gpt2, R"({"stop": {"tokens": 40961}})").iterations == 6);
    CHECK(run(gpt2, R"({"stop": {"samples": 16}})").iterations == 2);
    const Json bert = Json::parse(R"({"workload": {"profile": "bert-base"}})");
    CHECK(run(gpt2, bert.dump()).iterations == 40);  // 313 sequences of 128
}

// 124 million parameters in 16 bits: 16 bytes each by ZeRO's formula, and activations by hand.
TEST_CASE(
    "accounts: memory has the activations that the scenario says, and a share of the device") {
    const Json gpt2 = Json::parse(R"({
        "cluster": {"nodes": 2, "fabric": {"kind": "star", "link": {"bandwidth": "10Gbps"}}},
        "workload": {"profile": "gpt2", "device": "a100-80gb", "precision": "bf16",
                     "efficiency": 0.4, "batch": 2},
        "algorithm": {"kind": "adam", "wire": "bf16"}, "stop": {"iterations": 1}})");
    const double states = 16 * 124'439'808.0 * 1e-9;
    const double core = 5.0 * 12 * 1024 * 1024;
    const double layer = 34.0 * 1024 * 768;
    const double ends = 1024 * (5.0 * 768 + 4 * 50257);
    CHECK(run(gpt2).memory_gb.value() == Approx(states).epsilon(1e-9));
    const Metrics none = run(gpt2, R"({"workload": {"recompute": "none"}})");
    CHECK(none.activations_gb.value() ==
          Approx(2 * (12 * (layer + core) + ends) * 1e-9).epsilon(1e-9));
    CHECK(none.memory_gb.value() == Approx(states + *none.activations_gb).epsilon(1e-9));
    CHECK(none.memory_share.value() == Approx(*none.memory_gb * 1e9 / (81920.0 * (1 << 20))));
    const Metrics own = run(gpt2, R"({"workload": {"recompute": "full", "device_memory": "1GB"}})");
    CHECK(own.activations_gb.value() ==
          Approx(2 * (12 * 2.0 * 1024 * 768 + layer + core + ends) * 1e-9).epsilon(1e-9));
    CHECK(own.memory_share.value() == Approx(*own.memory_gb));
}

TEST_CASE("accounts: recomputation lengthens a gradient on every device, and nothing but it") {
    const Json gpt2 = Json::parse(R"({
        "cluster": {"nodes": 2, "fabric": {"kind": "star", "link": {"bandwidth": "10Gbps"}},
                    "speeds": {"kind": "device", "device": "v100", "efficiency": 0.5, "nodes": [1]}},
        "workload": {"profile": "gpt2", "step_time": "100ms", "batch": 2},
        "algorithm": {"kind": "dense"}, "stop": {"iterations": 2}})");
    const Metrics plain = run(gpt2);
    const Metrics none = run(gpt2, R"({"workload": {"recompute": "none"}})");
    const Metrics full = run(gpt2, R"({"workload": {"recompute": "full"}})");
    CHECK(none.step_time_s.value() == plain.step_time_s.value());
    // 1 + (L W + 2 L T d) / 3 (L W + 2 L T d + V d), by the sizes of GPT-2.
    const double layers = 12 * (12 * 768.0 * 768 + 2 * 1024 * 768);
    const double factor = 1 + layers / (3 * (layers + 50257.0 * 768));
    CHECK(full.compute_s.value() == Approx(factor * plain.compute_s.value()).epsilon(1e-9));
    CHECK(full.bytes_sent_per_node_per_step.value() == plain.bytes_sent_per_node_per_step.value());
}

}  // namespace
}  // namespace paceline::accounts_test
