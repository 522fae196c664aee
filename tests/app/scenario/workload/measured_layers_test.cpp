// Profiles whose layers have measured times, from their file to the step of a run.
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/json/config_error.hpp"
#include "app/run/run_point.hpp"
#include "app/run/step_costs.hpp"
#include "app/scenario/study.hpp"
#include "app/study/study_file.hpp"
#include "tests/app/host/temporary_folder.hpp"

namespace paceline::measured_layers_test {
namespace {

using namespace std::chrono_literals;
using doctest::Approx;

// Forward takes 7 ms, backward 10 ms.
constexpr std::string_view measured = R"({
  "name": "two", "source": "this test", "batch": 8,
  "layers": [
    {"name": "a", "macs": 1, "forward": "2ms", "backward": "6ms",
     "tensors": [{"name": "weight", "shape": [1000, 1000]}]},
    {"name": "relu", "macs": 0, "forward": "1ms", "backward": "1ms", "tensors": []},
    {"name": "b", "macs": 1000, "forward": "4ms", "backward": "3ms",
     "tensors": [{"name": "weight", "shape": [1000, 1000]}]}
  ],
  "throughput": [{"device": "abacus", "samples_per_s": 100, "source": "this test"}]
})";

class Net {
  public:
    Net() { (void)folder_.write("two.json", std::string(measured)); }

    [[nodiscard]] Scenario scenario(std::string_view more,
                                    std::string_view algorithm = R"({"kind": "dense"})",
                                    std::string_view cluster = "") const {
        const std::string file =
            folder_.write("scenario.json",
                          fmt::format(R"({{"cluster": {{"nodes": 2, {} "fabric": {{"kind": "star",
                         "link": {{"bandwidth": "1Gbps"}}}}}},
                         "workload": {{"profile": "two.json"{}}},
                         "algorithm": {}, "stop": {{"iterations": 3}}}})",
                                      cluster, more, algorithm));
        return read_study(file, {}).points.front().scenario;
    }

  private:
    TemporaryFolder folder_;
};

std::vector<Duration> readies(const Scenario& scenario) {
    std::vector<Duration> all;
    for (const Bucket& bucket : step_timing(scenario).buckets) all.push_back(bucket.ready);
    return all;
}

constexpr std::string_view by_layer = R"({"kind": "dense-overlapped", "bucket": "4MB"})";

TEST_CASE("measured layers: the step is the sum of the layers' times, and the batch theirs") {
    const Scenario scenario = Net().scenario("");

    CHECK(scenario.workload.gradient == 17ms);
    CHECK(scenario.workload.batch == 8);
}

TEST_CASE("measured layers: buckets are complete at measured times, not by multiply-accumulates") {
    CHECK(readies(Net().scenario("", by_layer)) == std::vector<Duration>{10ms, 17ms});
}

TEST_CASE("measured layers: a step time scales them, for any batch") {
    const Scenario scenario = Net().scenario(R"(, "step_time": "34ms", "batch": 16)", by_layer);

    CHECK(scenario.workload.gradient == 34ms);
    CHECK(scenario.workload.batch == 16);
    CHECK(readies(scenario) == std::vector<Duration>{20ms, 34ms});
}

TEST_CASE("measured layers: accumulation repeats them, and the optimizer comes on top") {
    const Scenario scenario =
        Net().scenario(R"(, "accumulation": 2, "update_time": "5ms")", by_layer);

    CHECK(scenario.workload.step() == 39ms);
    CHECK(readies(scenario) == std::vector<Duration>{27ms, 34ms});
}

TEST_CASE("measured layers: strong scaling needs the batch that was measured, or a step time") {
    CHECK(Net().scenario(R"(, "global_batch": 16)").workload.gradient == 17ms);
    CHECK(Net().scenario(R"(, "global_batch": 8, "step_time": "9ms")").workload.gradient == 9ms);
    CHECK_THROWS_WITH_AS(
        static_cast<void>(Net().scenario(R"(, "global_batch": 8)")),
        doctest::Contains("the layers of two were measured with batch 8, not with 4"), ConfigError);
}

TEST_CASE("measured layers: with a bus they are those of one device") {
    const std::string bus =
        R"("devices_per_node": 2, "bus": {"kind": "switched", "link": {"bandwidth": "100Gbps"}},)";

    CHECK(Net().scenario("", R"({"kind": "dense"})", bus).workload.gradient == 17ms);
    CHECK(Net()
              .scenario(R"(, "gradient_time": "34ms")", R"({"kind": "dense"})", bus)
              .workload.gradient == 34ms);
    CHECK_THROWS_WITH_AS(
        static_cast<void>(Net().scenario(R"(, "step_time": "34ms")", R"({"kind": "dense"})", bus)),
        doctest::Contains("includes the bus of the node"), ConfigError);
}

TEST_CASE("measured layers: a node with another device is as fast as its throughput says") {
    const Scenario scenario =
        Net().scenario("", R"({"kind": "dense"})",
                       R"("speeds": {"kind": "device", "device": "abacus", "nodes": [1]},)");

    CHECK(scenario.cluster.speeds.size() == 1);  // 8 samples take the abacus 80 ms
}

TEST_CASE("measured layers: a net that stands in for them trains on their clock") {
    const TemporaryFolder folder;
    (void)folder.write("two.json", std::string(measured));
    const auto with = [&](std::string_view stand_in) {
        const std::string file = folder.write(
            "scenario.json", fmt::format(R"({{"cluster": {{"nodes": 2, "fabric": {{"kind": "star",
                         "link": {{"bandwidth": "1Gbps"}}}}}},
                         "workload": {{"model": {{"kind": "mlp", "hidden": [3]}}, "batch": 4,
                           "data": {{"kind": "gaussian-mixture", "train": 20, "test": 5}},
                           "stand_in_for": {{"profile": "two.json"{}}}}},
                         "optimizer": {{"learning_rate": 0.1}},
                         "algorithm": {{"kind": "dense"}}, "stop": {{"iterations": 3}}}})",
                                         stand_in));
        return read_study(file, {}).points.front().scenario.workload;
    };

    CHECK(with("").gradient == 17ms);
    CHECK(with("").stand_in_batch == 8);
    CHECK(with(R"(, "step_time": "34ms", "batch": 16)").stand_in_batch == 16);
    CHECK_THROWS_AS(static_cast<void>(with(R"(, "batch": 16)")), ConfigError);
}

TEST_CASE("measured layers: a run hides behind backward what the measured times allow") {
    // Ring of 2 nodes over a star, 4 MB a bucket at 1 Gb/s: 32 ms each, one after the other from
    // 10 ms on. The second is complete when the first is under way.
    const Metrics metrics = run_point(Net().scenario("", by_layer), nullptr);

    REQUIRE(metrics.step_time_s.has_value());
    CHECK(*metrics.step_time_s == Approx(10e-3 + 2 * 32e-3).epsilon(1e-6));
    CHECK(*metrics.step_time_s == Approx(metrics.model_step_time_s.value_or(0)).epsilon(1e-6));
}

}  // namespace
}  // namespace paceline::measured_layers_test
