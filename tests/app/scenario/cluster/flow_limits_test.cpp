#include "sim/network/flow_limits.hpp"

#include <chrono>
#include <random>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "app/json/config_error.hpp"
#include "app/run/run_point.hpp"
#include "tests/app/study/small_study.hpp"

namespace paceline::flow_limits_test {
namespace {

using doctest::Approx;
using namespace std::chrono_literals;

// 100 MB on links of 10 Gbps; TCP takes nothing but what is stated.
const std::string net = R"(workload={"gradient": "100MB", "step_time": "0s"})";

std::string tcp(const std::string& limits) {
    return R"(cluster.transport={"kind": "tcp", "goodput": 1, "duplex_share": 1, "first_window": "0B", )" +
           limits + "}";
}
std::string latency(const char* text) {
    return fmt::format(R"(cluster.fabric.link.latency="{}")", text);
}
std::string collective(const char* operation) {
    return fmt::format(R"(algorithm={{"kind": "collective", "operation": "{}"}})", operation);
}

TEST_CASE("flow limits: the bound is the rate, or a window per round trip") {
    CHECK(FlowLimits{}.bound(1ms) == FlowLimits::unbounded);
    CHECK(FlowLimits{Bandwidth{1000}, {}}.bound(1ms) == Bandwidth{1000});
    CHECK(FlowLimits{FlowLimits::unbounded, Bytes{125'000}}.bound(1ms) == Bandwidth{1'000'000'000});
    CHECK(FlowLimits{Bandwidth{5}, Bytes{125'000}}.bound(1ms) == Bandwidth{5});
    CHECK(FlowLimits{FlowLimits::unbounded, Bytes{1}}.bound(Duration::zero()) ==
          FlowLimits::unbounded);
    CHECK(FlowLimits{FlowLimits::unbounded, Bytes{1}}.bound(10'000s).bits_per_second == 1);
}

TEST_CASE("flow limits: a ring of one flow a link runs at the bound, as its closed form") {
    const SmallStudy study(4, 1);
    const double volume_s = 2 * 3.0 / 4 * 100e6 * 8;
    const auto run = [&](const std::string& limits) {
        return study.run({net, latency("500us"), tcp(limits)});
    };
    const auto check = [&](const std::string& limits, double rate) {
        CAPTURE(limits);
        const Metrics m = run(limits);
        CHECK(m.step_time_s.value() == Approx(volume_s / rate + 6 * 1e-3).epsilon(1e-6));
        CHECK(m.model_step_time_s.value() == Approx(m.step_time_s.value()).epsilon(1e-6));
    };
    check(R"("flow_rate": "3Gbps")", 3e9);
    check(R"("flow_rate": "30Gbps")", 10e9);
    check(R"("window": "1MB")", 8e6 / 2e-3);  // 1 MB every 2 ms
    check(R"("window": "4MB")", 10e9);
    check(R"("host_rate": "6Gbps")", 6e9);
    check(R"("host_rate": "6Gbps", "flow_rate": "5Gbps", "window": "1MB")", 4e9);
}

TEST_CASE("flow limits: several flows of a link exceed the bound of one, and not the host's") {
    const SmallStudy study(9, 1);
    const std::string exchange = R"(algorithm={"kind": "dsgd", "mixing": {"kind": "complete"}})";
    const auto seconds = [&](const std::string& limits) {
        const Metrics m = study.run({net, exchange, tcp(limits)});
        CHECK(m.model_step_time_s.value() == Approx(m.step_time_s.value()).epsilon(1e-6));
        return m.step_time_s.value();
    };
    // Eight flows of 0.8 Gbit leave each node.
    CHECK(seconds(R"("flow_rate": "1Gbps")") == Approx(0.8));
    CHECK(seconds(R"("flow_rate": "2Gbps")") == Approx(0.64));
    CHECK(seconds(R"("host_rate": "4Gbps")") == Approx(1.6));
    CHECK(seconds(R"("host_rate": "4Gbps", "flow_rate": "400Mbps")") == Approx(2));
}

TEST_CASE("flow limits: all-gather, all-to-all and servers have their closed forms") {
    std::mt19937 rng(1);
    for (int seed = 0; seed < 20; ++seed) {
        CAPTURE(seed);
        const SmallStudy study(2 + static_cast<int>(rng() % 6), 1);
        const std::string limits =
            tcp(fmt::format(R"("flow_rate": "{}Mbps", "host_rate": "{}Mbps")", 500 + rng() % 9000,
                            500 + rng() % 9000));
        for (const std::string& algorithm :
             {collective("all-gather-ring"), collective("all-to-all"), collective("reduce-scatter"),
              std::string(R"(algorithm={"kind": "sgd", "aggregation": "servers"})")}) {
            CAPTURE(algorithm);
            const Metrics m = study.run({net, algorithm, latency("30us"), limits});
            CHECK(m.model_step_time_s.value() == Approx(m.step_time_s.value()).epsilon(1e-5));
        }
    }
}

TEST_CASE("flow limits: rings of several devices share the card, each at its own bound") {
    const SmallStudy study(3, 1);
    const std::string devices =
        R"(cluster={"nodes": 3, "devices_per_node": 4,
                    "bus": {"kind": "switched", "link": {"bandwidth": "100Gbps", "latency": "1us"}},
                    "fabric": {"kind": "star", "link": {"bandwidth": "10Gbps", "latency": "5us"}},
                    "transport": {"kind": "tcp", "flow_rate": "1Gbps", "first_window": "0B"}})";
    const std::string job = R"(workload={"gradient": "96MB", "gradient_time": "0s"})";
    const std::string rings = R"(algorithm={"kind": "dense", "all_reduce": "hierarchical"})";
    const std::string shards =
        R"(algorithm={"kind": "sgd", "aggregation": {"kind": "all-reduce", "machines": "shards"}})";
    for (const std::string& algorithm : {rings, shards}) {
        CAPTURE(algorithm);
        const Metrics m = study.run({devices, job, algorithm});
        // Four rings at 1 Gbps each; the card could carry nine.
        CHECK(m.step_time_s.value() > 2 * 2.0 / 3 * 24e6 * 8 / 1e9);
        CHECK(m.model_step_time_s.value() == Approx(m.step_time_s.value()).epsilon(1e-6));
    }
}

TEST_CASE(
    "flow limits: what bounds a host's cable is refused where there is none, or another bound") {
    const SmallStudy study(4, 1);
    CHECK_THROWS_WITH_AS(
        static_cast<void>(study.run(
            {R"(cluster.fabric={"kind": "ring", "link": {"bandwidth": "1Gbps", "latency": "1us"}})",
             tcp(R"("host_rate": "1Gbps")")})),
        doctest::Contains("cluster.transport.host_rate: limits the only cable of a node"),
        ConfigError);
    CHECK_THROWS_WITH_AS(
        static_cast<void>(study.run(
            {R"(cluster.access=[{"nodes": [1], "schedule": [{"at": "1ms", "for": "1ms"}]}])",
             tcp(R"("host_rate": "1Gbps")")})),
        doctest::Contains("changes what \"transport.host_rate\" bounds"), ConfigError);
}

}  // namespace
}  // namespace paceline::flow_limits_test
