// Islands, from the text of a scenario to its losses and times: what they reduce to, what they are
// equal to by other means, and their closed forms.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/host/files.hpp"
#include "app/json/config_error.hpp"
#include "app/run/run_point.hpp"
#include "app/run/step_costs.hpp"
#include "app/scenario/algorithms/algorithms.hpp"
#include "app/scenario/scenario.hpp"
#include "tests/app/scenario/algorithms/plain_algorithm.hpp"

namespace paceline::islands_test {
namespace {

using doctest::Approx;

Metrics run(const Json& json) {
    return run_point(read_scenario(json, "islands.json", files_of_this_machine()), nullptr);
}

// Machines of several devices; whole shards as batches, so that only the batches' union counts.
Json training(int nodes, int devices, int batch = 0) {
    constexpr int samples = 96;
    Json json = Json::parse(R"({
        "cluster": {"fabric": {"kind": "star", "link": {"bandwidth": "1Gbps", "latency": "20us"}}},
        "workload": {"model": {"kind": "softmax-regression"}, "gradient_time": "1ms",
            "update_time": "300us",
            "data": {"kind": "gaussian-mixture", "dimension": 6, "classes": 3, "train": 96,
                     "test": 12, "partition": {"kind": "label-sorted"}}},
        "optimizer": {"learning_rate": 0.05, "momentum": 0.8},
        "measure": {"every": "1 iterations"},
        "stop": {"iterations": 7}})");
    json["cluster"]["nodes"] = nodes;
    if (devices > 1) {
        json["cluster"]["devices_per_node"] = devices;
        json["cluster"]["bus"] = Json::parse(
            R"({"kind": "switched", "link": {"bandwidth": "10Gbps", "latency": "1us"}})");
    }
    json["workload"]["batch"] = batch > 0 ? batch : samples / (nodes * devices);
    return json;
}

Json with(Json scenario, const Json& algorithm) {
    scenario["algorithm"] = algorithm;
    return scenario;
}

Json on_islands(Json algorithm, const char* by = nullptr, const Json& inside = "dense") {
    algorithm["islands"] = by == nullptr ? Json("machine") : Json{{"level", "machine"}, {"by", by}};
    algorithm["inside"] = inside;
    return algorithm;
}

void check_same_losses(const Metrics& a, const Metrics& b, double tolerance) {
    REQUIRE(a.timeline.size() == b.timeline.size());
    REQUIRE(a.timeline.size() > 5);
    for (std::size_t i = 0; i < a.timeline.size(); ++i) {
        CAPTURE(i);
        CHECK(a.timeline[i].train_loss == Approx(b.timeline[i].train_loss).epsilon(tolerance));
    }
    CHECK(a.timeline.back().train_loss != a.timeline.front().train_loss);
}

void check_same_bits(const Metrics& island, const Metrics& inner) {
    REQUIRE(island.timeline.size() == inner.timeline.size());
    for (std::size_t i = 0; i < island.timeline.size(); ++i) {
        CAPTURE(i);
        CHECK(island.timeline[i].train_loss == inner.timeline[i].train_loss);
        CHECK(island.timeline[i].sim_time_s == inner.timeline[i].sim_time_s);
    }
    CHECK(island.sim_time_s == inner.sim_time_s);
}

// The methods whose workers can be islands, by the schema, with short blocks.
std::vector<Json> outer_methods() {
    std::vector<Json> all;
    for (const AlgorithmEntry& entry : algorithm_table()) {
        const Keys keys = algorithm_keys(entry);
        const auto has = [&](std::string_view key) {
            return std::ranges::find(keys, key) != keys.end();
        };
        if (!has("islands")) continue;
        Json algorithm = plain_algorithm(entry.name);
        algorithm["kind"] = std::string(entry.name);
        if (has("period")) algorithm["period"] = 2;
        if (entry.name == "post-local-sgd") algorithm["switch_step"] = 2;
        if (entry.name == "sparta") algorithm["share"] = 0.3;
        if (has("local_steps")) algorithm["local_steps"] = 2;
        all.push_back(std::move(algorithm));
    }
    return all;
}

// Methods whose islands are led by their first devices, and those of them whose rounds are.
bool has_rounds(const Json& method) {
    return algorithm_entry(method.at("kind").get<std::string>()).exchanges ==
           Feature::server_rounds;
}
bool is_led(const Json& method) {
    const Feature feature = algorithm_entry(method.at("kind").get<std::string>()).exchanges;
    return has_rounds(method) || feature == Feature::pairs || feature == Feature::server_of_models;
}

TEST_CASE("islands: the only one is its inner method, in every bit, under averages of models") {
    std::mt19937 random(5);
    const auto pick = [&](int low, int high) {
        return std::uniform_int_distribution<int>(low, high)(random);
    };
    const std::vector<Json> inside{
        {{"kind", "dense"}},
        {{"kind", "dense"}, {"schedule", "tensors"}},
        {{"kind", "dense"}, {"codec", "qsgd"}},
        {{"kind", "dense"}, {"codec", {{"kind", "top-k"}, {"density", 0.2}}}},
        {{"kind", "dense"}, {"aggregation", "two-phase"}},
    };
    for (const Json& way : inside) {
        CAPTURE(way.dump());
        Json scenario = training(1, pick(0, 1) == 0 ? 2 : 4, 4);  // a mean of equals is exact
        scenario["seed"] = pick(1, 1000);
        scenario["cluster"]["compute_jitter"] =
            Json::parse(R"({"kind": "log-normal", "sigma": 0.3})");
        const Json local{{"kind", "local-sgd"}, {"period", pick(1, 3)}};
        check_same_bits(run(with(scenario, on_islands(local, nullptr, way))),
                        run(with(scenario, way)));
    }
}

TEST_CASE("islands: the only one, sharded, is ZeRO under averages of Adam's models") {
    for (const int stage : {1, 2, 3}) {
        CAPTURE(stage);
        const Json zero{{"kind", "zero"}, {"stage", stage}, {"unit", "60B"}};
        const Json scenario = training(1, 4, 6);
        check_same_bits(
            run(with(scenario, on_islands({{"kind", "local-adam"}, {"period", 2}}, nullptr, zero))),
            run(with(scenario, zero)));
    }
}

TEST_CASE("islands: two that average after every step of momentum SGD are one large dense job") {
    for (const char* by : {"leaders", "shards"})
        for (const Json& inside : {Json("dense"), Json{{"kind", "zero"}, {"stage", 2}}}) {
            const Json local{{"kind", "local-sgd"}, {"period", 1}};
            check_same_losses(run(with(training(2, 3, 4), on_islands(local, by, inside))),
                              run(with(training(2, 3, 4), {{"kind", "dense"}})), 1e-12);
        }
}

// Batches are whole shards, so a machine of g devices that are one worker computes the gradient
// that one device with the union of their shards computes.
TEST_CASE("islands, property: each is one worker with all batches of its devices") {
    std::mt19937 random(11);
    for (const Json& method : outer_methods()) {
        const int devices = random() % 2 == 0 ? 2 : 3;
        const bool whole = method["kind"] == "sparseloco";  // its chunks are of whole tensors
        const bool led = is_led(method);
        if (led && !has_rounds(method)) continue;  // what comes first depends on times
        const char* const by = whole || led || random() % 2 == 0 ? "leaders" : "shards";
        const bool sharded = random() % 2 == 0 && (led || std::string_view(by) == "shards");
        const Json inside =
            sharded ? Json{{"kind", "zero"}, {"stage", led ? 2 : 3}} : Json("dense");
        CAPTURE(method.dump());
        CAPTURE(by);
        const Metrics islands = run(with(training(4, devices), on_islands(method, by, inside)));
        const Metrics workers = run(with(training(4, 1), method));
        check_same_losses(islands, workers, 1e-11);
    }
}

TEST_CASE("islands: of racks each is one worker with all batches of its machines") {
    for (const int devices : {1, 2})
        for (const char* kind : {"diloco", "local-sgd", "dsgd"}) {
            CAPTURE(devices);
            Json method = plain_algorithm(kind);
            method["kind"] = kind;
            if (std::string_view(kind) != "dsgd") method["period"] = 2;
            Json racks = training(6, devices);
            racks["cluster"]["sites"] = Json::parse(R"([{"level": "rack", "size": 2}])");
            Json islands = method;
            islands["islands"] = "rack";
            islands["inside"] = devices == 2 ? "zero" : "dense";
            check_same_losses(run(with(racks, islands)), run(with(training(3, 1), method)), 1e-11);
        }
}

TEST_CASE("islands: machines of unlike numbers of devices exchange by leaders") {
    Json scenario = training(3, 2, 4);
    scenario["cluster"]["classes"] = Json::parse(R"([{"nodes": [1], "devices_per_node": 3}])");
    const Json diloco{{"kind", "diloco"}, {"period", 2}};
    const Metrics metrics = run(with(scenario, on_islands(diloco)));

    CHECK(metrics.outcome == "finished");
    CHECK(metrics.train_loss.has_value());
    CHECK(run(with(scenario, on_islands(diloco, "leaders"))).sim_time_s == metrics.sim_time_s);
    CHECK(run(with(scenario, on_islands({{"kind", "dsgd"}, {"mixing", {{"kind", "ring"}}}})))
              .outcome == "finished");
    CHECK_THROWS_WITH_AS(run(with(scenario, on_islands(diloco, "shards"))),
                         doctest::Contains("equally many devices"), ConfigError);
}

TEST_CASE("islands, property: steps take the time of their closed form") {
    std::mt19937 random(3);
    const auto pick = [&](int low, int high) {
        return std::uniform_int_distribution<int>(low, high)(random);
    };
    const std::vector<Json> inside{"dense",
                                   {{"kind", "dense"}, {"schedule", "tensors"}},
                                   "zero",
                                   {{"kind", "zero"}, {"stage", 2}},
                                   {{"kind", "zero"}, {"stage", 1}}};
    int known = 0;
    for (const Json& method : outer_methods())
        for (int i = 0; i < 3; ++i) {
            const Json& way = inside[static_cast<std::size_t>(pick(0, 4))];
            if (method["kind"] == "sparseloco") continue;  // the codec has shards of no matrix
            if (is_led(method)) continue;                  // no form
            const bool sharded = way == Json("zero");
            const Json algorithm =
                on_islands(method, sharded || pick(0, 1) == 0 ? "shards" : "leaders", way);
            Json json = Json::parse(R"({
                "workload": {"profile": "alexnet", "gradient_time": "50ms", "update_time": "2ms"},
                "stop": {"iterations": 8}})");
            json["cluster"] = {{"nodes", pick(2, 5)},
                               {"devices_per_node", pick(2, 4)},
                               {"bus",
                                {{"kind", pick(0, 1) == 0 ? "switched" : "direct"},
                                 {"link",
                                  {{"bandwidth", fmt::format("{}Gbps", pick(5, 100))},
                                   {"latency", fmt::format("{}us", pick(0, 10))}}}}},
                               {"fabric",
                                {{"kind", "star"},
                                 {"link",
                                  {{"bandwidth", fmt::format("{}Mbps", pick(100, 20000))},
                                   {"latency", fmt::format("{}us", pick(0, 500))}}}}}};
            json["algorithm"] = algorithm;
            CAPTURE(json.dump());
            const Scenario scenario = read_scenario(json, "form.json", files_of_this_machine());
            const std::optional<Duration> form = model_step_time(scenario, 8);
            if (!form) continue;
            ++known;
            const Metrics metrics = run_point(scenario, nullptr);
            CHECK(metrics.step_time_s.value() == Approx(to_seconds(*form)).epsilon(1e-7));
        }
    CHECK(known > 20);
}

// On a bus that takes no time, an island is as fast as one device, so that the same letters come in
// the same order. Classes of speed keep letters of different workers apart.
TEST_CASE("islands, property: led ones meet in the order in which single devices would") {
    int freely = 0;
    for (const Json& method : outer_methods()) {
        if (!is_led(method)) continue;
        for (const int devices : {2, 3}) {
            CAPTURE(method.dump());
            CAPTURE(devices);
            const auto scenario = [&](int each, const Json& algorithm) {
                Json json = with(training(4, each), algorithm);
                if (each > 1)
                    json["cluster"]["bus"]["link"] = {{"bandwidth", "1000000Gbps"},
                                                      {"latency", "0s"}};
                json["cluster"]["speeds"] =
                    Json::parse(R"({"kind": "list", "values": [1, 0.93, 0.81, 0.67]})");
                json["stop"]["iterations"] = 12;
                return json;
            };
            const Metrics islands = run(scenario(devices, on_islands(method)));
            const Metrics workers = run(scenario(1, method));
            check_same_losses(islands, workers, 1e-11);
            CHECK(islands.sim_time_s == Approx(workers.sim_time_s).epsilon(1e-9));
            freely += has_rounds(method) ? 0 : 1;
        }
    }
    CHECK(freely >= 8);
}

// One island: its first device pushes S bytes and reads as many.
//   step = (g l + 2 t((g-1)/g S)) + l + gradient + 2 (g-1) (l + t(S/g)) + 2 (L + T(S))
// l is two lanes of the bus, L two cables and a lane at either end.
TEST_CASE("islands: a led step takes its orders, what is handed on, the gradient and the letters") {
    constexpr int devices = 4;
    constexpr double size = 4e6;
    constexpr double latency = 2e-6;
    Json json = Json::parse(R"({
        "cluster": {"nodes": 1, "devices_per_node": 4,
            "bus": {"kind": "switched", "link": {"bandwidth": "100Gbps", "latency": "1us"}},
            "fabric": {"kind": "star", "link": {"bandwidth": "1Gbps", "latency": "20us"}}},
        "workload": {"gradient": "4000000B", "gradient_time": "1ms"},
        "stop": {"iterations": 9}})");
    const Metrics metrics = run(with(json, on_islands({{"kind", "ps-async"}})));
    const auto bus = [](double bytes) { return bytes * 8 / 100e9; };
    const double handed_on = devices * latency + 2 * bus((devices - 1) * size / devices);
    const double reduced = 2 * (devices - 1) * (latency + bus(size / devices));
    const double letters = 2 * (2 * 20e-6 + latency + size * 8 / 1e9);
    const double first = latency + 1e-3 + reduced + letters;  // nothing has come yet
    const double last_order = latency;
    CHECK(metrics.sim_time_s == Approx(9 * first + 8 * handed_on + last_order).epsilon(1e-9));
    CHECK(metrics.bytes_sent_per_node_per_step == Approx(size));
}

TEST_CASE("islands: whoever exchanges for a machine, it sends what one worker would") {
    Json json = Json::parse(R"({
        "cluster": {"nodes": 4, "devices_per_node": 4,
            "bus": {"kind": "switched", "link": {"bandwidth": "100Gbps", "latency": "1us"}},
            "fabric": {"kind": "star", "link": {"bandwidth": "1Gbps", "latency": "20us"}}},
        "workload": {"gradient": "4000000B", "gradient_time": "1ms"},
        "stop": {"iterations": 2}})");
    const Json diloco{{"kind", "diloco"}, {"period", 2}};
    // A ring of four machines in every second step: 2 (p-1)/p S.
    for (const Json& inside : {Json("dense"), Json{{"kind", "zero"}, {"stage", 2}}})
        for (const char* by : {"leaders", "shards"})
            CHECK(run(with(json, on_islands(diloco, by, inside))).bytes_sent_per_node_per_step ==
                  0.5 * 1.5 * 4e6);
}

}  // namespace
}  // namespace paceline::islands_test
