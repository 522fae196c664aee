// A scenario on a testbed: what it takes, what it replaces, and where errors are reported.
#include "app/scenario/testbed.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/scenario/study.hpp"
#include "tests/app/json/in_memory.hpp"

namespace paceline::testbed_test {
namespace {

constexpr const char* lab = R"({"constants": [], "cluster": {"devices": 8, "devices_per_node": 4,
    "bus": {"kind": "switched", "link": {"preset": "nvlink-2"}},
    "fabric": {"kind": "star", "link": {"bandwidth": "3Gbps", "latency": "20us"}}}})";

// Two nodes on a star with this bandwidth.
std::string star(const std::string& bandwidth) {
    return fmt::format(R"({{"nodes": 2, "fabric": {{"kind": "star",
                           "link": {{"bandwidth": "{}", "latency": "1us"}}}}}})",
                       bandwidth);
}

ScenarioText on(const std::string& cluster, const std::string& testbed = lab,
                const std::string& workload = R"({"gradient": "1MB", "gradient_time": "1ms"})") {
    return {"studies/mine.json",
            fmt::format(R"({{"cluster": {}, "workload": {}, "algorithm": {{"kind": "dense"}},
                            "stop": {{"iterations": 1}}}})",
                        cluster, workload),
            in_memory({{"studies/lab.json", testbed}})};
}

std::string refusal(const ScenarioText& scenario, const Settings& settings = {}) {
    try {
        (void)read_single_point(scenario, settings);
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "";
}

TEST_CASE(
    "testbed: a scenario takes the cluster, and its own count of nodes replaces that of devices") {
    const auto cluster = [](const std::string& text, const Settings& settings = {}) {
        return read_single_point(on(text), settings).scenario.cluster;
    };
    CHECK(cluster(R"({"testbed": "lab.json"})").workers == 8);
    CHECK(cluster(R"({"testbed": "lab.json", "nodes": 3})").workers == 12);
    CHECK(cluster(R"({"testbed": "lab.json", "devices": 6})").workers == 6);
    CHECK(cluster(R"({"testbed": "lab.json"})", {"cluster.nodes=5"}).workers == 20);
}

TEST_CASE("testbed: null takes a key of the testbed away, and a sweep may name testbeds") {
    const Point one = read_single_point(
        on(R"({"testbed": "lab.json", "nodes": 2, "devices_per_node": 1, "bus": null})"), {});
    CHECK(one.scenario.cluster.workers == 2);
    ScenarioText swept = on(R"({"nodes": 4})");
    swept.text.insert(1, R"("sweep": {"cluster.testbed": ["lab.json", "other.json"]},)");
    swept.sources =
        in_memory({{"studies/lab.json", lab},
                   {"studies/other.json", fmt::format(R"({{"cluster": {}}})", star("1Gbps"))}});
    const Study study = read_study(swept, {});
    CHECK(study.points[0].scenario.cluster.workers == 16);
    CHECK(study.points[1].scenario.cluster.workers == 4);
}

TEST_CASE("testbed: a point's JSON has the cluster and no testbed, and reads as the same point") {
    const ScenarioText scenario = on(R"({"testbed": "lab.json", "nodes": 2})");
    const Point point = read_single_point(scenario, {});
    const Json resolved = Json::parse(point.resolved);
    CHECK_FALSE(resolved["cluster"].contains("testbed"));
    CHECK(resolved["cluster"]["fabric"]["kind"] == "star");
    CHECK(read_study(scenario, {}).points.resolved(0) == point.resolved);
    CHECK(resolve_study(scenario, {}).front() == point.resolved);
    const ScenarioText again{"elsewhere.json", point.resolved, in_memory({})};
    CHECK(read_single_point(again, {}).resolved == point.resolved);
}

TEST_CASE("testbed: constants of the workload are below those of the scenario") {
    const std::string fitted =
        fmt::format(R"({{"cluster": {}, "workload": {{"gradient_time": "7ms"}}}})", star("3Gbps"));
    const auto time = [&](const std::string& workload) {
        return read_single_point(on(R"({"testbed": "lab.json"})", fitted, workload), {})
            .scenario.workload.step();
    };
    CHECK(to_seconds(time(R"({"gradient": "1MB"})")) == doctest::Approx(0.007));
    CHECK(to_seconds(time(R"({"gradient": "1MB", "gradient_time": "2ms"})")) ==
          doctest::Approx(0.002));
}

TEST_CASE("testbed: an error is reported in the file that has it") {
    CHECK(refusal(on(R"({"testbed": "none.json"})")).find("studies/none.json") !=
          std::string::npos);
    CHECK(refusal(on(R"({"testbed": 3})")).starts_with("studies/mine.json: cluster.testbed: "));
    CHECK(refusal(on(R"({"testbed": "lab.json"})", R"({"nodes": 2})"))
              .starts_with("studies/lab.json: is not a testbed: it has no \"cluster\""));
    CHECK(refusal(on(R"({"testbed": "lab.json"})", R"({"cluster": {"testbed": "lab.json"}})"))
              .starts_with("studies/lab.json: cluster.testbed: "));
    const std::string wrong = fmt::format(R"({{"cluster": {}}})", star("fast"));
    CHECK(refusal(on(R"({"testbed": "lab.json"})", wrong))
              .starts_with("studies/lab.json: cluster.fabric.link.bandwidth: "));
    CHECK(refusal(on(R"({"testbed": "lab.json", "fabric": {"link": {"bandwidth": "slow"}}})"))
              .starts_with("studies/mine.json: cluster.fabric.link.bandwidth: "));
    CHECK(refusal(on(R"({"testbed": "lab.json"})"), {"cluster.fabric.link.bandwidth=slow"})
              .starts_with("command line: --set cluster.fabric.link.bandwidth: "));
    CHECK(refusal(on(R"({"testbed": "lab.json", "nodse": 4})"))
              .starts_with("studies/mine.json: cluster.nodse: "));
}

TEST_CASE("testbed: its draws are run for intervals, but for constants that the scenario states") {
    Json drawn = Json::parse(lab);
    drawn["draws"] = Json::parse(R"([{"cluster.fabric.link.bandwidth": "2Gbps",
                                      "cluster.fabric.link.latency": "10us"},
                                     {"cluster.fabric.link.bandwidth": "4Gbps"}])");
    const auto read = [&](const std::string& cluster, const Settings& settings = {}) {
        return read_single_point(on(cluster, drawn.dump()), settings).scenario;
    };
    const auto bandwidths = [](const Scenario& scenario) {
        std::vector<std::int64_t> all;
        for (const Scenario& draw : scenario.draws)
            all.push_back(draw.cluster.fabric.as_idle_star->bandwidth.bits_per_second);
        return all;
    };
    const Scenario all = read(R"({"testbed": "lab.json"})");
    CHECK(all.interval);
    CHECK(bandwidths(all) == std::vector<std::int64_t>{2'000'000'000, 4'000'000'000});
    // Of the second draw, nothing is left.
    const Scenario stated =
        read(R"({"testbed": "lab.json", "fabric": {"link": {"bandwidth": "5Gbps"}}})");
    CHECK(bandwidths(stated) == std::vector<std::int64_t>{5'000'000'000});
    CHECK(read(R"({"testbed": "lab.json"})", {"measure.interval=false"}).draws.empty());
    CHECK_FALSE(read(R"({"testbed": "lab.json"})", {"measure.interval=false"}).interval);
    drawn["draws"] = 3;
    CHECK_THROWS_WITH_AS((void)read(R"({"testbed": "lab.json"})"),
                         doctest::Contains("lab.json: draws: is not a list of objects"),
                         ConfigError);
}

}  // namespace
}  // namespace paceline::testbed_test
