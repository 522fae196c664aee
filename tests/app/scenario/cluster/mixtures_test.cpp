// Shares of nodes with other links, devices, access and failures, from the scenario to the run.
#include <cstddef>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "app/json/config_error.hpp"
#include "app/questions/check_text.hpp"
#include "app/run/results.hpp"
#include "app/scenario/cluster/cluster_choice.hpp"
#include "app/scenario/study.hpp"
#include "app/study/study_file.hpp"
#include "tests/app/host/temporary_folder.hpp"
#include "tests/app/studies/run_points.hpp"

namespace paceline::mixtures_test {
namespace {

using namespace literals;

struct Phones {
    TemporaryFolder folder;
    std::string file = folder.write("phones.json", R"({
        "cluster": {"nodes": 20,
            "fabric": {"kind": "star", "link": {"bandwidth": "100Mbps"}, "other_links": [
                {"share": 0.3, "link": {"bandwidth": "3Mbps"}},
                {"nodes": [0, 1], "link": {"bandwidth": "7Mbps"}},
                {"share": 0.2, "link": {"bandwidth": "5Mbps"}}]},
            "access": [{"kind": "on-off", "share": 0.5, "on": "1s", "off": "1s"},
                       {"kind": "outages", "share": 0.5, "mean_between": "10s",
                        "mean_length": "1s"},
                       {"kind": "on-off", "share": 0.5, "on": "2s", "off": "1s"}]},
        "workload": {"profile": "resnet-50", "device": "v100", "batch": 32},
        "algorithm": {"kind": "ps-async"}, "stop": {"iterations": 2}})");

    [[nodiscard]] Study study(const std::vector<std::string>& settings = {}) const {
        return read_study(file, settings);
    }
    [[nodiscard]] ClusterChoice cluster(const std::vector<std::string>& settings = {}) const {
        const Study one = study(settings);
        return one.points[0].scenario.cluster;
    }
    [[nodiscard]] std::string refusal(const std::string& setting) const {
        try {
            static_cast<void>(study({setting}));
        } catch (const ConfigError& error) {
            return error.path() + ": " + error.problem();
        }
        return "accepted";
    }
};

using Nodes = std::vector<int>;

// Nodes of a star whose link has this bandwidth, up and down.
Nodes with_bandwidth(const ClusterChoice& cluster, Bandwidth bandwidth) {
    const Fabric fabric = cluster.make_fabric(1, 99);
    Nodes found;
    for (int node = 0; node < cluster.nodes; ++node) {
        Route route;
        fabric.find_route(node, (node + 1) % cluster.nodes, route);
        const bool up = fabric.links[route.front()].bandwidth == bandwidth;
        fabric.find_route((node + 1) % cluster.nodes, node, route);
        const bool down = fabric.links[route.back()].bandwidth == bandwidth;
        CHECK(up == down);
        if (up) found.push_back(node);
    }
    return found;
}

TEST_CASE("mixtures: shares of nodes have other links, and those that are named keep theirs") {
    const Phones phones;
    for (const int seed : {1, 2, 3}) {
        CAPTURE(seed);
        const ClusterChoice cluster = phones.cluster({fmt::format("seed={}", seed)});
        CHECK(with_bandwidth(cluster, 3_Mbps).size() == 6);
        CHECK(with_bandwidth(cluster, 5_Mbps).size() == 4);
        CHECK(with_bandwidth(cluster, 7_Mbps) == Nodes{0, 1});
        CHECK(with_bandwidth(cluster, 100_Mbps).size() == 8);
        CHECK(with_bandwidth(cluster, 3_Mbps) == cluster.drawn[0].nodes);
    }
    CHECK(with_bandwidth(phones.cluster({"seed=1"}), 3_Mbps) !=
          with_bandwidth(phones.cluster({"seed=2"}), 3_Mbps));
}

TEST_CASE("mixtures: outages are drawn apart from on/off processes, which share no node") {
    const Phones phones;
    const ClusterChoice cluster = phones.cluster();
    REQUIRE(cluster.access.size() == 3);
    std::set<int> processes(cluster.access[0].nodes->begin(), cluster.access[0].nodes->end());
    processes.insert(cluster.access[2].nodes->begin(), cluster.access[2].nodes->end());
    CHECK(processes.size() == 20);
    CHECK(cluster.access[1].nodes->size() == 10);
    CHECK(cluster.access[1].nodes != cluster.access[0].nodes);
    CHECK(cluster.access[0].nodes != cluster.fabric.drawn[0].nodes);
}

TEST_CASE("mixtures: a share of the nodes has another device, on top of other speeds") {
    const Phones phones;
    const ClusterChoice cluster =
        phones.cluster({R"(cluster.speeds=[{"kind": "device", "device": "k80", "share": 0.25},
                            {"kind": "two-classes", "share": 0.5, "speed": 0.5},
                            {"kind": "device", "device": "p100", "share": 0.75}])"});
    REQUIRE(cluster.speeds.size() == 3);
    const auto& k80 = std::get<NodeSpeeds::Stated>(cluster.speeds[0].law).speeds;
    const auto& p100 = std::get<NodeSpeeds::Stated>(cluster.speeds[2].law).speeds;
    int slow = 0;
    for (std::size_t node = 0; node < 20; ++node) {
        CHECK((k80[node] == 1) != (p100[node] == 1));
        if (k80[node] != 1) ++slow;
    }
    CHECK(slow == 5);
}

TEST_CASE("mixtures: a share of the nodes fails") {
    const Phones phones;
    const std::string failures =
        R"(cluster.failures={"mean_between": "10s", "mean_repair": "1s", "share": 0.1})";
    CHECK(phones.cluster({failures}).failures->nodes->size() == 2);
    CHECK(
        phones.refusal(R"(cluster.failures={"schedule": [{"node": 1, "at": "1s"}], "share": 0.1})")
            .find("goes with \"mean_between\"") != std::string::npos);
}

TEST_CASE("mixtures: a share that rounds to no node changes none") {
    const Phones phones;
    const ClusterChoice cluster = phones.cluster(
        {"cluster.nodes=4", R"(cluster.fabric.other_links=[])",
         R"(cluster.access=[{"kind": "on-off", "share": 0.1, "on": "1s", "off": "1s"}])"});
    CHECK(cluster.access[0].nodes == Nodes{});
}

TEST_CASE("mixtures: check says how many nodes are drawn") {
    const Phones phones;
    const std::string text = check_text(phones.study());
    for (const char* line :
         {"drawn: 6 of 20 nodes by the seed, for cluster.fabric.other_links[0] (share 0.3)",
          "drawn: 4 of 20 nodes by the seed, for cluster.fabric.other_links[2] (share 0.2)",
          "drawn: 10 of 20 nodes by the seed, for cluster.access[1] (share 0.5)"}) {
        CAPTURE(line);
        CHECK(text.find(line) != std::string::npos);
    }
}

TEST_CASE("mixtures: results depend on the seed and not on the number of threads") {
    const Phones phones;
    const std::string text = content(phones.file);
    const std::string swept =
        text.substr(0, text.rfind('}')) + R"(, "sweep": {"seed": [1, 2, 3]}})";
    const Study study = read_study(phones.folder.write("swept.json", swept), {});
    const std::string one = results_csv({study, run_points(study, 1)});
    CHECK(one == results_csv({study, run_points(study, 4)}));
    const std::vector<PointResult> results = run_points(study, 2);
    CHECK(results[0].metrics.sim_time_s != results[1].metrics.sim_time_s);
}

TEST_CASE("mixtures: an object of other_links names nodes or a share") {
    const Phones phones;
    CHECK(phones.refusal(R"(cluster.fabric.other_links=[{"link": {"preset": "3g"}}])")
              .find("\"nodes\" is missing") != std::string::npos);
    CHECK(phones
              .refusal(R"(cluster.access=[{"kind": "on-off", "on": "1s", "off": "1s"},
                                            {"kind": "on-off", "on": "1s", "off": "1s",
                                             "share": 0.2}])")
              .find("has a trace or on/off process already; only outages come on top") !=
          std::string::npos);
}

}  // namespace
}  // namespace paceline::mixtures_test
