#include "app/scenario/cluster/fabrics.hpp"

#include <chrono>
#include <set>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/run/run_point.hpp"
#include "app/scenario/study.hpp"
#include "app/study/study_file.hpp"
#include "tests/app/host/temporary_folder.hpp"

namespace paceline::app_fabrics_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

FabricChoice read(const std::string& text, int nodes) {
    static const std::string file = "file.json";
    const Json json = Json::parse(text);
    return read_fabric({&json, &file, "fabric"}, nodes);
}

Fabric made(const std::string& text, int nodes) {
    return read(text, nodes).make(nodes, 1);
}

TEST_CASE("fabrics: a leaf-spine has the uplinks that it states") {
    const Fabric fabric = made(R"({"kind": "leaf-spine", "link": {"bandwidth": "10Gbps"},
        "hosts_per_leaf": 4, "spines": 2, "uplink": {"bandwidth": "7Gbps", "latency": "3us"}})",
                               8);

    CHECK(fabric.hosts == 8);
    REQUIRE(fabric.links.size() == 2 * (8 + 2 * 2));
    CHECK(fabric.links.front().bandwidth == 10_Gbps);
    CHECK(fabric.links.back().bandwidth == 7_Gbps);
    CHECK(fabric.links.back().latency == 3us);
}

TEST_CASE("fabrics: a leaf-spine without uplink has those of its oversubscription, 1 by default") {
    const std::string begin = R"({"kind": "leaf-spine", "hosts_per_leaf": 4, "spines": 2,
        "link": {"bandwidth": "10Gbps", "latency": "2us"})";

    CHECK(made(begin + "}", 8).links.back().bandwidth == 20_Gbps);
    CHECK(made(begin + "}", 8).links.back().latency == 2us);
    CHECK(made(begin + R"(, "oversubscription": 4})", 8).links.back().bandwidth == 5_Gbps);
}

TEST_CASE("fabrics: a fat tree is the smallest that holds the nodes, of equal links, unless told") {
    const std::string begin = R"({"kind": "fat-tree", "link": {"bandwidth": "10Gbps"})";
    const Fabric usual = made(begin + "}", 17);
    const Fabric told = made(begin + R"(, "k": 8, "uplink": {"bandwidth": "40Gbps"}})", 17);

    CHECK(usual.links.size() == 2 * (17 + 2 * 54));
    CHECK(usual.links.back().bandwidth == 10_Gbps);
    CHECK(told.links.size() == 2 * (17 + 2 * 128));
    CHECK(told.links.front().bandwidth == 10_Gbps);
    CHECK(told.links.back().bandwidth == 40_Gbps);
}

TEST_CASE("fabrics: a torus has the extents of its dims, and a ring is one of one dimension") {
    const Fabric torus =
        made(R"({"kind": "torus", "link": {"bandwidth": "1Gbps"}, "dims": [3, 4]})", 12);
    const Fabric ring = made(R"({"kind": "ring", "link": {"bandwidth": "1Gbps"}})", 5);
    Route route;

    CHECK(torus.hosts == 12);
    CHECK(torus.links.size() == 2 * 24);
    CHECK(ring.hosts == 5);
    CHECK(ring.links.size() == 2 * 5);
    ring.find_route(0, 3, route);
    CHECK(route == Route{9, 7});
}

TEST_CASE("fabrics: a dumbbell has its bottleneck last") {
    const Fabric fabric = made(R"({"kind": "dumbbell", "link": {"bandwidth": "10Gbps"},
                                   "bottleneck": {"bandwidth": "1Gbps"}})",
                               4);

    REQUIRE(fabric.links.size() == 10);
    CHECK(fabric.links[7].bandwidth == 10_Gbps);
    CHECK(fabric.links[8].bandwidth == 1_Gbps);
}

TEST_CASE("fabrics: a graph's cables have links of their own, or the graph's") {
    const Fabric fabric = made(R"({"kind": "graph", "link": {"bandwidth": "10Gbps"},
        "switches": ["a", "b"],
        "cables": [{"between": [0, "a"]}, {"between": ["b", 1]},
                   {"between": ["a", "b"], "link": {"bandwidth": "1Gbps"}}]})",
                               2);
    Route route;
    fabric.find_route(0, 1, route);

    REQUIRE(fabric.links.size() == 6);
    CHECK(fabric.links[2].bandwidth == 10_Gbps);
    CHECK(fabric.links[4].bandwidth == 1_Gbps);
    CHECK(route == Route{0, 4, 2});
}

TEST_CASE("fabrics: the seed of the scenario draws the routes") {
    const FabricChoice choice = read(R"({"kind": "leaf-spine", "link": {"bandwidth": "1Gbps"},
                                         "hosts_per_leaf": 1, "spines": 64})",
                                     2);
    Route one;
    Route other;
    choice.make(2, 1).find_route(0, 1, one);
    choice.make(2, 2).find_route(0, 1, other);

    CHECK(one.size() == 4);
    CHECK(one != other);
}

TEST_CASE("fabrics: every kind takes an overhead, and closed forms are for the star without") {
    for (const auto& [kind, more] : std::vector<std::pair<std::string, std::string>>{
             {"star", ""},
             {"leaf-spine", R"(, "hosts_per_leaf": 2, "spines": 1)"},
             {"fat-tree", ""},
             {"torus", R"(, "dims": [2, 2])"},
             {"ring", ""},
             {"dumbbell", R"(, "bottleneck": {"bandwidth": "1Gbps"})"},
             {"graph", R"(, "switches": ["s"], "cables": [{"between": [0, "s"]},
                {"between": [1, "s"]}, {"between": [2, "s"]}, {"between": [3, "s"]}])"},
             {"regions", R"(, "regions": [{"name": "a"}, {"name": "b"}], "bandwidth": "1Gbps",
                "latency": "5ms")"}}) {
        CAPTURE(kind);
        const std::string text =
            fmt::format(R"({{"kind": "{}", "link": {{"bandwidth": "1Gbps"}}{})", kind, more);
        const FabricChoice free = read(text + "}", 4);
        const FabricChoice busy = read(text + R"(, "overhead": "5us"})", 4);

        CHECK(free.overhead == 0s);
        CHECK(busy.overhead == 5us);
        CHECK(free.as_idle_star.has_value() == (kind == "star"));
        CHECK(!busy.as_idle_star);
        CHECK(free.make(4, 1).hosts == 4);
    }
}

TEST_CASE("fabrics: memory is counted for links beyond two a node and for tables of distances") {
    CHECK(read(R"({"kind": "star", "link": {"bandwidth": "1Gbps"}})", 100).memory == 0_B);
    CHECK(read(R"({"kind": "ring", "link": {"bandwidth": "1Gbps"}})", 100).memory == 0_B);
    CHECK(read(R"({"kind": "torus", "link": {"bandwidth": "1Gbps"}, "dims": [10, 10]})", 100)
              .memory == 25'600_B);
    CHECK(read(R"({"kind": "fat-tree", "link": {"bandwidth": "1Gbps"}, "k": 4})", 16).memory ==
          Bytes{32 * 256});
    CHECK(read(R"({"kind": "graph", "link": {"bandwidth": "1Gbps"}, "switches": ["a", "b", "c"],
                   "cables": [{"between": [0, 1]}]})",
               2)
              .memory == 18_B);
}

// Time of one step with an all-reduce of 8 MB.
double step_time(const std::string& fabric, int nodes, int seed = 1,
                 const std::string& all_reduce = "ring") {
    const TemporaryFolder folder;
    const std::string file = folder.write(
        "scenario.json", fmt::format(R"({{"cluster": {{"nodes": {}, "fabric": {}}}, "seed": {},
            "workload": {{"gradient": "8MB", "step_time": "1ms"}},
            "algorithm": {{"kind": "dense", "all_reduce": "{}"}},
            "stop": {{"iterations": 2}}}})",
                                     nodes, fabric, seed, all_reduce));
    return run_point(read_study(file, {}).points.front().scenario, nullptr).step_time_s.value();
}

TEST_CASE("fabrics: a ring all-reduce on a ring takes one link a step") {
    // 1 ms + 2 (n - 1) (L + S / (n B)), S / (8 B) = 8 ms at 1 Gbps.
    const std::string ring =
        R"({"kind": "ring", "link": {"bandwidth": "1Gbps", "latency": "50us"}})";

    CHECK(step_time(ring, 8) == doctest::Approx(1e-3 + 14 * (50e-6 + 8e-3)).epsilon(1e-9));
}

TEST_CASE("fabrics: a ring all-reduce crosses a dumbbell with one message each way") {
    // The two messages of a step that cross have the bottleneck to themselves. It is the slowest
    // link, and the longest route has three links.
    const std::string dumbbell = R"({"kind": "dumbbell",
        "link": {"bandwidth": "1Gbps", "latency": "20us"},
        "bottleneck": {"bandwidth": "500Mbps", "latency": "60us"}})";

    CHECK(step_time(dumbbell, 2) == doctest::Approx(1e-3 + 2 * (100e-6 + 64e-3)).epsilon(1e-9));
}

TEST_CASE("fabrics: regions that state no nodes share what the others leave") {
    const Fabric fabric = made(R"({"kind": "regions", "link": {"bandwidth": "10Gbps"},
        "regions": [{"name": "a"}, {"name": "b", "nodes": 2, "link": {"bandwidth": "20Gbps"}},
                    {"name": "c"}],
        "bandwidth": [[null, "1Gbps", "2Gbps"], ["3Gbps", null, "4Gbps"], ["5Gbps", "6Gbps", null]],
        "latency": "30ms", "loss": [[null, 0, 0], [0.01, null, 0], [0, 0, null]]})",
                               6);  // a has 0 and 1, b 2 and 3, c 4 and 5

    REQUIRE(fabric.links.size() == 18);
    CHECK(fabric.links[2].bandwidth == 10_Gbps);
    CHECK(fabric.links[4].bandwidth == 20_Gbps);
    CHECK(fabric.links[11].bandwidth == 10_Gbps);
    CHECK(fabric.links[12].bandwidth == 1_Gbps);
    CHECK(fabric.links[13] == Link{.bandwidth = 3_Gbps, .latency = 30ms, .loss = 0.01});
    CHECK(fabric.links[15].bandwidth == 5_Gbps);
    CHECK(fabric.links[17].bandwidth == 6_Gbps);
}

TEST_CASE("fabrics: a ring all-reduce waits for the slowest pipe between regions") {
    // Of the messages of a step, one takes each pipe from a region to the next.
    const std::string regions = R"({"kind": "regions",
        "regions": [{"name": "a"}, {"name": "b"}, {"name": "c"}],
        "link": {"bandwidth": "1Gbps", "latency": "20us"}, "latency": "10ms",
        "bandwidth": [[null, "500Mbps", "1kbps"], ["1kbps", null, "800Mbps"],
                      ["250Mbps", "1kbps", null]]})";

    CHECK(step_time(regions, 6) ==
          doctest::Approx(1e-3 + 10 * (10e-3 + 40e-6 + 128e-3 / 3)).epsilon(1e-6));
}

TEST_CASE("fabrics: a run uses the routes that its seed draws") {
    // Exchanges between two leaves, whose messages may share an uplink.
    const std::string fabric = R"({"kind": "leaf-spine", "link": {"bandwidth": "1Gbps"},
                                   "hosts_per_leaf": 4, "spines": 4})";
    std::set<double> times;
    for (int seed = 0; seed < 8; ++seed)
        times.insert(step_time(fabric, 8, seed, "halving-doubling"));

    CHECK(times.size() > 1);
    CHECK(*times.begin() >= 1e-3 + 2 * 7.0 / 8 * 64e-3);  // if nothing were shared
    CHECK(step_time(fabric, 8, 3, "halving-doubling") ==
          step_time(fabric, 8, 3, "halving-doubling"));
}

}  // namespace
}  // namespace paceline::app_fabrics_test
