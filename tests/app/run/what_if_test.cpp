#include "app/run/what_if.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "app/run/run_point.hpp"
#include "app/scenario/study.hpp"
#include "app/study/study_file.hpp"
#include "tests/app/host/temporary_folder.hpp"

namespace paceline::what_if_test {
namespace {

using doctest::Approx;

constexpr std::string_view star =
    R"({"kind": "star", "link": {"bandwidth": "1Gbps", "latency": "50us"}})";

// 10 ms of computing and 8 MB; `cluster` is inserted into the cluster.
Scenario scenario_of(std::string_view fabric, std::string_view cluster = "", int nodes = 8) {
    const TemporaryFolder folder;
    const std::string file =
        folder.write("scenario.json", fmt::format(R"({{"cluster": {{"nodes": {}, "fabric": {} {}}},
                         "workload": {{"gradient": "8MB", "step_time": "10ms"}},
                         "algorithm": {{"kind": "dense"}}, "stop": {{"iterations": 3}}}})",
                                                  nodes, fabric, cluster));
    return read_study(file, {}).points.front().scenario;
}

double step_s(const Scenario& scenario) {
    return run_point(scenario, nullptr).step_time_s.value();
}

double model_s(const Scenario& scenario) {
    return to_seconds(model_step_time(scenario, 3).value());
}

TEST_CASE("what if: links of twice the bandwidth are those that a scenario states so") {
    const Scenario doubled = with_bandwidth_times(scenario_of(star), 2);
    const Scenario stated =
        scenario_of(R"({"kind": "star", "link": {"bandwidth": "2Gbps", "latency": "50us"}})");

    CHECK(step_s(doubled) == step_s(stated));
    CHECK(model_s(doubled) == model_s(stated));
}

TEST_CASE("what if: links of half the latency are those that a scenario states so") {
    const Scenario halved = with_latency_times(scenario_of(star), 0.5);
    const Scenario stated =
        scenario_of(R"({"kind": "star", "link": {"bandwidth": "1Gbps", "latency": "25us"}})");

    CHECK(step_s(halved) == step_s(stated));
    CHECK(model_s(halved) == model_s(stated));
}

TEST_CASE("what if: bandwidths that an access link takes turns with are multiplied, too") {
    const auto with = [](std::string_view bandwidth, std::string_view off) {
        return scenario_of(
            fmt::format(R"({{"kind": "star", "link": {{"bandwidth": "{}"}}}})", bandwidth),
            fmt::format(R"(, "access": [{{"kind": "on-off", "nodes": [2], "on": "20ms",
                                          "off": "5ms", "bandwidth_off": "{}"}}])",
                        off));
    };

    CHECK(step_s(with_bandwidth_times(with("1Gbps", "100Mbps"), 2)) ==
          step_s(with("2Gbps", "200Mbps")));
}

TEST_CASE("what if: compute twice as fast halves gradients and updates alone") {
    Scenario scenario = scenario_of(star);
    scenario.workload.update = from_seconds(2e-3);

    const double saved = step_s(scenario) - step_s(with_compute_times(scenario, 0.5));

    CHECK(saved == Approx((10e-3 + 2e-3) / 2).epsilon(1e-12));
}

TEST_CASE("what if: without what stands in the way a scenario is the one that never had it") {
    const Scenario plain = scenario_of(star);
    const Scenario slow = scenario_of(star, R"(, "stragglers": {"factor": 4, "nodes": [3]},
                                               "speeds": {"kind": "log-normal", "sigma": 0.3},
                                               "compute_jitter": {"kind": "normal", "deviation": 0.1})");
    const Scenario busy = scenario_of(
        star, R"(, "background": [{"kind": "constant", "from": 0, "to": 1, "rate": "500Mbps"}])");
    const Scenario unsteady = scenario_of(
        R"({"kind": "star", "link": {"bandwidth": "1Gbps", "latency": "50us", "loss": 0.001,
            "jitter": {"kind": "normal", "mean": "1ms", "sd": "1ms"}}})",
        R"(, "access": [{"kind": "outages", "nodes": [1], "schedule": [{"at": "5ms", "for": "9ms"}]}])");
    const Scenario costly = scenario_of(
        R"({"kind": "star", "overhead": "1ms", "link": {"bandwidth": "1Gbps", "latency": "50us"}})");

    CHECK(has_unlike_nodes(slow));
    CHECK(has_other_traffic(busy));
    CHECK(has_unsteady_links(unsteady));
    CHECK(has_protocol_costs(costly));
    const double expected = step_s(plain);
    for (const auto& [with, without] :
         std::vector<std::pair<Scenario, Scenario>>{{slow, with_nodes_alike(slow)},
                                                    {busy, without_other_traffic(busy)},
                                                    {unsteady, with_steady_links(unsteady)},
                                                    {costly, without_protocol_costs(costly)}}) {
        CHECK(step_s(with) > expected);
        CHECK(step_s(without) == expected);
    }
    CHECK_FALSE(has_unlike_nodes(plain));
    CHECK_FALSE(has_other_traffic(plain));
    CHECK_FALSE(has_unsteady_links(plain));
    CHECK_FALSE(has_protocol_costs(plain));
    CHECK_FALSE(has_core(plain));
}

TEST_CASE("what if: a leaf-spine without limits in its core is a star of the same links") {
    constexpr std::string_view placed = R"(, "placement": [0, 4, 1, 5, 2, 6, 3, 7])";
    const Scenario fabric = scenario_of(
        R"({"kind": "leaf-spine", "hosts_per_leaf": 4, "spines": 1, "oversubscription": 4,
            "link": {"bandwidth": "1Gbps"}})",
        placed);
    const Scenario plain = scenario_of(R"({"kind": "star", "link": {"bandwidth": "1Gbps"}})");
    const Scenario open = with_unlimited(fabric, Unlimited::core);

    CHECK(has_core(fabric));
    CHECK(step_s(fabric) > step_s(plain));
    CHECK(step_s(open) == step_s(plain));
    REQUIRE(as_star(fabric));
    CHECK(as_star(fabric)->bandwidth == Bandwidth{1'000'000'000});
    CHECK(model_s(with_star_forms(fabric).value()) == model_s(plain));
}

TEST_CASE("what if: on a network without limits or latency a step is its computing, to the tick") {
    for (const std::string_view fabric :
         {star, std::string_view(R"({"kind": "torus", "dims": [2, 2, 2],
                                     "link": {"bandwidth": "1Gbps", "latency": "9us"}})")}) {
        const Scenario free =
            with_unlimited(without_latency(scenario_of(fabric)), Unlimited::network);

        CHECK(run_point(free, nullptr).sim_time_s == 3 * 10e-3);
    }
}

TEST_CASE("what if: unlike links are no star") {
    const Scenario uneven = scenario_of(
        R"({"kind": "star", "link": {"bandwidth": "1Gbps"},
            "other_links": [{"nodes": [3], "link": {"bandwidth": "100Mbps"}}]})");

    CHECK_FALSE(as_star(uneven));
    CHECK_FALSE(with_star_forms(uneven));
    CHECK_FALSE(as_star(scenario_of(star, "", 1)));
}

}  // namespace
}  // namespace paceline::what_if_test
