// Machines of several devices that fail, and islands of them, from the text of a scenario: what the
// runs reduce to, goodput counted by hand, and absences of several machines put together.
#include <cstddef>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "app/host/files.hpp"
#include "app/run/run_point.hpp"
#include "app/scenario/cluster/failures.hpp"
#include "app/scenario/scenario.hpp"

namespace paceline::failing_islands_of_scenarios_test {
namespace {

using namespace std::chrono_literals;
using doctest::Approx;

Metrics run(const Json& json) {
    return run_point(read_scenario(json, "failing.json", files_of_this_machine()), nullptr);
}

// Steps of a millisecond; what they send takes microseconds.
Json timing(int nodes, int devices, const Json& algorithm, int steps) {
    Json json = Json::parse(R"({
        "cluster": {"fabric": {"kind": "star", "link": {"bandwidth": "10Gbps", "latency": "1us"}}},
        "workload": {"gradient": "4kB", "gradient_time": "1ms", "batch": 5}})");
    json["cluster"]["nodes"] = nodes;
    if (devices > 1) {
        json["cluster"]["devices_per_node"] = devices;
        json["cluster"]["bus"] = Json::parse(
            R"({"kind": "switched", "link": {"bandwidth": "100Gbps", "latency": "100ns"}})");
    }
    json["algorithm"] = algorithm;
    json["stop"] = {{"iterations", steps}};
    return json;
}

Json dies(int node, const char* at, const char* length = nullptr) {
    Json absence{{"node", node}, {"at", at}};
    if (length != nullptr) absence["for"] = length;
    return {{"schedule", Json::array({absence})}, {"detection", "0s"}};
}

Json with_failures(Json scenario, const Json& failures, const Json& more = Json::object()) {
    scenario["cluster"]["failures"] = failures;
    scenario["cluster"]["failures"].update(more);
    return scenario;
}

const Json local{{"kind", "local-sgd"}, {"period", 4}};
const Json islands{{"kind", "local-sgd"}, {"period", 4}, {"islands", "machine"}};

TEST_CASE("failing machines: without one that dies in the first step, those left are the cluster") {
    const std::vector<Json> algorithms{
        {{"kind", "dense"}},
        {{"kind", "dense"}, {"schedule", "25MiB"}},
        {{"kind", "sgd"}, {"codec", "fp16"}},
        local,
        islands,
        {{"kind", "diloco"}, {"period", 4}, {"islands", "machine"}, {"inside", "zero"}},
        {{"kind", "diloco"}, {"period", 4}, {"islands", {{"level", "machine"}, {"by", "leaders"}}}},
        {{"kind", "sparta"}, {"share", 0.1}, {"islands", "machine"}},
        {{"kind", "dsgd"}, {"mixing", {{"kind", "complete"}}}, {"islands", "machine"}}};
    for (const Json& algorithm : algorithms) {
        CAPTURE(algorithm.dump());
        const Metrics left = run(timing(2, 2, algorithm, 8));
        const Metrics without = run(with_failures(timing(3, 2, algorithm, 8), dies(2, "500us")));
        CHECK(without.outcome == "finished");
        CHECK(without.deaths == 1);
        CHECK(without.sim_time_s == Approx(left.sim_time_s).epsilon(1e-9));
        CHECK(without.goodput == 1);  // its only gradient was cut short
    }
}

TEST_CASE("failing machines: goodput leaves out what a machine computed and nobody has") {
    // Node 1 dies in its seventh step, and has computed 6 gradients on each of two devices. Four
    // are in the first average.
    for (const Json& algorithm : {local, islands}) {
        const Json one = timing(3, 2, algorithm, 8);
        const double computed = 2 * (8 + 8 + 6);
        CHECK(run(with_failures(one, dies(1, "6500us"))).goodput ==
              Approx((computed - 2 * 2) / computed));
        CHECK_FALSE(run(one).goodput.has_value());
        // It returns for the last step but one, with the model that it had: its steps come again.
        const Metrics back = run(with_failures(timing(3, 2, algorithm, 12),
                                               dies(1, "6500us", "3ms"), {{"return_from", "own"}}));
        CHECK(back.goodput == 1);
        CHECK(back.iterations == Approx((12 + 12 + 8) / 3.0));
    }
    // Dense: the gradient that it had computed when its exchange broke. Of a restart: all since the
    // checkpoint, here the start.
    Json dense = timing(3, 2, {{"kind", "dense"}}, 4);
    dense["workload"]["gradient"] = "40MB";
    CHECK(run(with_failures(dense, dies(1, "2ms"))).goodput == Approx(16.0 / 18));
    const Metrics again = run(with_failures(timing(3, 2, islands, 8), dies(1, "6500us", "1ms"),
                                            {{"on_death", "restart"}}));
    CHECK(again.goodput == Approx(8.0 / 14));
    CHECK(again.undone_share == Approx(6.0 / 14));
}

TEST_CASE("failing machines: goodput counts samples, not gradients, where batches differ") {
    Json scenario = timing(2, 2, local, 8);
    scenario["cluster"]["classes"] =
        Json::parse(R"([{"nodes": [1], "batch": 15, "gradient_time": "1ms"}])");
    // Node 1 loses two gradients of 15 samples on each device; the others have 5.
    const double computed = 2 * (8 * 5 + 6 * 15);
    CHECK(run(with_failures(scenario, dies(1, "6500us"))).goodput ==
          Approx((computed - 2 * 2 * 15) / computed));
}

TEST_CASE("failing islands: a restart from the start ends as if nothing had happened") {
    Json training = timing(3, 2, islands, 8);
    training["workload"] = Json::parse(R"({"model": {"kind": "softmax-regression"},
        "gradient_time": "1ms", "batch": 16,
        "data": {"kind": "gaussian-mixture", "dimension": 6, "classes": 3, "train": 96,
                 "test": 12}})");
    training["optimizer"] = {{"learning_rate", 0.05}, {"momentum", 0.8}};
    const Metrics plain = run(training);
    const Metrics again =
        run(with_failures(training, dies(1, "3500us", "5ms"), {{"on_death", "restart"}}));
    CHECK(again.deaths == 1);
    CHECK(again.train_loss == plain.train_loss);
    // All begin again when it is back, 8.5 ms after the start.
    CHECK(again.sim_time_s == Approx(8.5e-3 + plain.sim_time_s).epsilon(1e-9));
}

TEST_CASE("failing islands: one of several machines is away while any of these is") {
    Json racks = timing(6, 2, {{"kind", "local-sgd"}, {"period", 4}, {"islands", "rack"}}, 8);
    racks["cluster"]["sites"] = Json::parse(R"([{"level": "rack", "size": 2}])");
    // Nodes 2 and 3 are one island.
    const Json failures = Json::parse(R"({"detection": "0s", "return_from": "peer", "schedule": [
        {"node": 2, "at": "1500us", "for": "2ms"}, {"node": 3, "at": "2500us", "for": "3ms"}]})");
    const Metrics metrics = run(with_failures(racks, failures));
    CHECK(metrics.outcome == "finished");
    CHECK(metrics.deaths == 1);
    // Away from within the second step to the seventh, of eight.
    CHECK(metrics.iterations == Approx((8 + 3 + 8) / 3.0));
}

TEST_CASE("failures: absences of several nodes overlap, or follow one another") {
    const auto at = [](int s) { return Time{std::chrono::seconds(s)}; };
    const std::vector<std::vector<Absence>> of_nodes{
        {{at(1), at(4)}, {at(20), at(21)}},
        {{at(3), at(6)}, {at(6), at(7)}, {at(10), at(11)}},
        {{at(2), never}}};
    std::map<int, std::size_t> given;
    const NextAbsence of_node = [&](int node, Time since) -> std::optional<Absence> {
        const auto& all = of_nodes[static_cast<std::size_t>(node)];
        std::size_t& i = given[node];
        while (i < all.size() && all[i].returns <= since) ++i;
        return i < all.size() ? std::optional(all[i++]) : std::nullopt;
    };
    NextAbsence of_group = absences_of_groups(of_node, {{2}, {0, 1}});

    std::optional<Absence> next = of_group(1, Time{});
    CHECK(next->leaves == at(1));
    CHECK(next->returns == at(7));
    next = of_group(1, at(8));
    CHECK(next->leaves == at(10));
    CHECK(next->returns == at(11));
    next = of_group(1, at(15));
    CHECK(next->leaves == at(20));
    CHECK(next->returns == at(21));
    CHECK_FALSE(of_group(1, at(31)).has_value());
    CHECK(of_group(0, Time{})->returns == never);
    CHECK_FALSE(of_group(0, Time{}).has_value());
}

}  // namespace
}  // namespace paceline::failing_islands_of_scenarios_test
