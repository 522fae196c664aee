// Several users of one network: other jobs, background traffic, placement, cells, and the price of
// bytes.
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "algorithms/runtime/cluster.hpp"
#include "app/json/config_error.hpp"
#include "app/questions/check_text.hpp"
#include "app/run/results.hpp"
#include "app/run/run_point.hpp"
#include "app/scenario/study.hpp"
#include "app/study/baseline.hpp"
#include "app/study/study_file.hpp"
#include "tests/app/host/temporary_folder.hpp"
#include "tests/app/studies/run_points.hpp"
#include "tests/app/studies/training_study.hpp"

namespace paceline::shared_network_test {
namespace {

using doctest::Approx;

const std::string star = R"({"kind": "star", "link": {"bandwidth": "1Gbps", "latency": "25us"}})";

// A scenario of 10 ms of computing and 8 MB (64 ms at 1 Gbps), with `changes` applied.
Study study_of(const std::string& changes, const std::string& fabric = star, int nodes = 8) {
    Json json = Json::parse(fmt::format(
        R"({{"cluster": {{"nodes": {}, "fabric": {}}},
             "workload": {{"gradient": "8MB", "step_time": "10ms"}},
             "algorithm": {{"kind": "dense"}}, "stop": {{"iterations": 20}}}})",
        nodes, fabric));
    json.merge_patch(Json::parse(changes));
    const TemporaryFolder folder;
    return read_study(folder.write("scenario.json", json.dump()), {});
}

Metrics run(const std::string& changes, const std::string& fabric = star, int nodes = 8) {
    return run_point(study_of(changes, fabric, nodes).points.front().scenario, nullptr);
}

std::string refusal(const std::string& changes, const std::string& fabric = star) {
    try {
        (void)study_of(changes, fabric);
    } catch (const ConfigError& error) {
        return error.path() + ": " + error.problem();
    }
    return "accepted";
}

std::string job(const std::string& label, const std::string& nodes,
                const std::string& algorithm = R"({"kind": "dense"})",
                const std::string& more = "") {
    return fmt::format(R"({{"label": "{}", "nodes": {}, "algorithm": {},
                            "workload": {{"gradient": "8MB", "step_time": "10ms"}}{}}})",
                       label, nodes, algorithm, more);
}

// n workers on a ring; each message gets 1 / `slower` of 1 Gbps.
double ring_step(int n, double slower) {
    return 10e-3 + 2 * (n - 1) * (50e-6 + slower * 64e-3 / n);
}

TEST_CASE("placement: a star looks the same from everywhere") {
    const Metrics half = run(R"({"cluster": {"placement": "odd"}})");

    CHECK(half.nodes == 4);
    CHECK(half.sim_time_s == run("{}", star, 4).sim_time_s);
    CHECK(half.step_time_s.value() == Approx(ring_step(4, 1)).epsilon(1e-9));
    CHECK(half.model_step_time_s.value() == Approx(*half.step_time_s).epsilon(1e-9));
}

TEST_CASE("placement: ranks follow the order in which it names nodes") {
    // On a ring of links, a ring of ranks in order uses one link per hop. With every second rank,
    // it uses two.
    const std::string ring =
        R"({"kind": "ring", "link": {"bandwidth": "1Gbps", "latency": "25us"}})";
    const auto step = [&](const std::string& placement) {
        return run(fmt::format(R"({{"cluster": {{"placement": {}}}}})", placement), ring)
            .step_time_s.value();
    };

    CHECK(step("[0, 1, 2, 3]") == Approx(10e-3 + 6 * (75e-6 + 16e-3)).epsilon(1e-9));
    CHECK(step("[0, 2, 4, 6]") == Approx(10e-3 + 6 * (50e-6 + 16e-3)).epsilon(1e-9));
    CHECK(step("\"even\"") == step("[0, 2, 4, 6]"));
    CHECK(step("[6, 4, 2, 0]") == step("[0, 2, 4, 6]"));
}

TEST_CASE("placement: servers stand behind the nodes of the fabric") {
    for (const char* algorithm :
         {R"({"kind": "ps-sync"})", R"({"kind": "ps-async"})", R"({"kind": "fedavg"})"}) {
        CAPTURE(algorithm);
        const Metrics placed = run(fmt::format(
            R"({{"cluster": {{"placement": [7, 2, 5]}}, "algorithm": {}}})", algorithm));

        CHECK(placed.outcome == "finished");
        CHECK(placed.sim_time_s ==
              run(fmt::format(R"({{"algorithm": {}}})", algorithm), star, 3).sim_time_s);
    }
}

TEST_CASE("placement: devices are placed with their machines") {
    const std::string changes = R"({"cluster": {"nodes": null, "devices_per_node": 2, {}
        "bus": {"kind": "switched", "link": {"bandwidth": "10Gbps"}}},
        "workload": {"step_time": null, "gradient_time": "10ms"}})";
    const auto with = [&](const std::string& key, int nodes) {
        std::string text = changes;
        text.replace(text.find("{}"), 2, key);
        text.replace(text.find("null"), 4, std::to_string(nodes));
        return run(text, star, nodes);
    };

    CHECK(with(R"("placement": [1, 4, 6],)", 8).sim_time_s == with("", 3).sim_time_s);
    CHECK(with(R"("placement": [1, 4, 6],)", 8).devices == 6);
}

TEST_CASE("other jobs: on other nodes of a star neither knows of the other") {
    const Metrics main = run(fmt::format(R"({{"cluster": {{"placement": "even"}},
        "other_jobs": [{}]}})",
                                         job("other", "\"odd\"")));

    REQUIRE(main.other_jobs.size() == 1);
    const Metrics& other = main.other_jobs[0];
    CHECK(main.step_time_s.value() == Approx(ring_step(4, 1)).epsilon(1e-9));
    CHECK(!main.model_step_time_s);
    CHECK(other.job == "other");
    CHECK(other.outcome == "main-ended");
    CHECK(!other.failed());
    CHECK(other.step_time_s.value() == Approx(ring_step(4, 1)).epsilon(1e-9));
    CHECK(other.speedup.value() == Approx(4 * 10e-3 / ring_step(4, 1)).epsilon(1e-9));
    CHECK(other.compute_s.value() == Approx(10e-3).epsilon(1e-9));
    CHECK(other.bytes_sent_per_node_per_step.value() == Approx(12e6).epsilon(1e-9));
    CHECK(main.bytes_sent_per_node_per_step.value() == Approx(12e6).epsilon(1e-9));
}

TEST_CASE("other jobs: on the same nodes each has half of the links while both send") {
    const Metrics main = run(fmt::format(R"({{"other_jobs": [{}]}})", job("other", "\"all\"")));

    CHECK(main.step_time_s.value() == Approx(ring_step(8, 2)).epsilon(1e-9));
    CHECK(main.other_jobs.at(0).step_time_s.value() == Approx(ring_step(8, 2)).epsilon(1e-9));
    CHECK(main.bytes_sent_per_node_per_step.value() == Approx(14e6).epsilon(1e-9));
}

TEST_CASE("other jobs: two jobs across a dumbbell have half of its bottleneck each") {
    const std::string dumbbell = R"({"kind": "dumbbell", "link": {"bandwidth": "10Gbps"},
                                     "bottleneck": {"bandwidth": "1Gbps"}})";
    // 0 .. 3 are on the left, 4 .. 7 on the right: each job has a pair of nodes.
    const auto step = [&](const std::string& others) {
        return run(fmt::format(R"({{"cluster": {{"placement": [0, 4]}}, "other_jobs": [{}]}})",
                               others),
                   dumbbell)
            .step_time_s.value();
    };

    CHECK(step("") == Approx(10e-3 + 64e-3).epsilon(1e-9));
    CHECK(step(job("b", "[1, 5]")) == Approx(10e-3 + 2 * 64e-3).epsilon(1e-9));
    CHECK(step(job("b", "[1, 5]") + "," + job("c", "[2, 6]")) ==
          Approx(10e-3 + 3 * 64e-3).epsilon(1e-9));
}

TEST_CASE("other jobs: a job that ends earlier leaves its links to the others") {
    const Metrics main = run(fmt::format(
        R"({{"stop": {{"iterations": 20}}, "other_jobs": [{}]}})",
        job("short", "\"all\"", R"({"kind": "dense"})", R"(, "stop": {"iterations": 5})")));
    const Metrics& other = main.other_jobs.at(0);

    CHECK(other.outcome == "finished");
    CHECK(other.iterations == 5);
    CHECK(other.sim_time_s == Approx(5 * ring_step(8, 2)).epsilon(1e-9));
    CHECK(main.sim_time_s == Approx(5 * ring_step(8, 2) + 15 * ring_step(8, 1)).epsilon(1e-9));
}

TEST_CASE("other jobs: a stop at a time begins no step after it") {
    const Metrics main =
        run(fmt::format(R"({{"other_jobs": [{}]}})", job("short", "\"all\"", R"({"kind": "dense"})",
                                                         R"(, "stop": {"time": "300ms"})")));

    CHECK(main.other_jobs.at(0).outcome == "finished");
    CHECK(main.other_jobs.at(0).iterations == std::ceil(0.3 / ring_step(8, 2)));
}

TEST_CASE("other jobs: they neither keep the run going nor change when it ends") {
    const Metrics main = run(fmt::format(
        R"({{"cluster": {{"placement": [0, 1]}}, "stop": {{"iterations": 2}}, "other_jobs": [{}]}})",
        job("long", "[4, 5]", R"({"kind": "dense"})", R"(, "stop": {"iterations": 1000000})")));

    CHECK(main.outcome == "finished");
    CHECK(main.sim_time_s == Approx(2 * ring_step(2, 1)).epsilon(1e-9));
    CHECK(main.other_jobs.at(0).outcome == "main-ended");
    CHECK(main.other_jobs.at(0).iterations <= 2);
}

TEST_CASE("other jobs: a step that the end cut counts nowhere") {
    // The other job's steps take 3/4 as long as the main job's.
    const Metrics main = run(fmt::format(
        R"({{"cluster": {{"placement": [0, 1]}}, "stop": {{"iterations": 3}},
             "workload": {{"step_time": "30ms", "gradient": "8MB"}},
             "other_jobs": [{}]}})",
        job("other", "[4, 5]")));
    const Metrics& other = main.other_jobs.at(0);

    CHECK(other.step_time_s.value() == Approx(ring_step(2, 1)).epsilon(1e-9));
    CHECK(other.iterations == std::floor(main.sim_time_s / ring_step(2, 1)));
    CHECK(other.bytes_sent_per_node_per_step.value() == Approx(8e6).epsilon(1e-9));
    CHECK(other.bytes_received_per_node_per_step.value() == Approx(8e6).epsilon(1e-9));
    CHECK(other.total_sent_gb.value() >= 2 * 8e-3 * other.iterations);
}

TEST_CASE(
    "other jobs: every algorithm of servers, gossip and collectives runs beside the main one") {
    for (const char* algorithm :
         {R"({"kind": "ps-async"})", R"({"kind": "ps-sync"})", R"({"kind": "fedavg"})",
          R"({"kind": "dgc"})", R"({"kind": "ad-psgd"})",
          R"({"kind": "dsgd", "mixing": {"kind": "ring"}})"}) {
        CAPTURE(algorithm);
        const Metrics main = run(fmt::format(R"({{"cluster": {{"placement": "even"}},
            "other_jobs": [{}]}})",
                                             job("other", "\"odd\"", algorithm)));

        CHECK(main.outcome == "finished");
        CHECK(main.step_time_s.value() == Approx(ring_step(4, 1)).epsilon(1e-9));
        CHECK(main.other_jobs.at(0).iterations > 1);
    }
}

TEST_CASE("other jobs: each has servers of its own") {
    const std::string servers = R"({"kind": "dense", "all_reduce": "parameter-server"})";
    const Metrics main = run(fmt::format(
        R"({{"cluster": {{"placement": "even"}}, "algorithm": {}, "other_jobs": [{}]}})", servers,
        job("other", "\"odd\"", servers)));

    // 4 x 64 ms up and as long down again, through one server's link.
    CHECK(main.step_time_s.value() == Approx(10e-3 + 2 * (256e-3 + 50e-6)).epsilon(1e-9));
    CHECK(main.other_jobs.at(0).step_time_s.value() == Approx(*main.step_time_s).epsilon(1e-9));
}

TEST_CASE("other jobs: each has rows of its own in results.csv, and a study without has none") {
    const Study study = study_of(fmt::format(
        R"({{"other_jobs": [{}], 
            "sweep": {{"algorithm": [{{"kind": "dense"}}, {{"kind": "dgc"}}]}}}})",
        job("other", "[0, 5]")));
    std::vector<PointResult> results;
    for (const Point& point : study.points) results.push_back({run_point(point.scenario, nullptr)});
    const std::string csv = results_csv({study, results});

    CHECK(csv.starts_with("point,job,algorithm,nodes,outcome,"));
    CHECK(csv.find("\n0,main,dense,8,finished,8,20,") != std::string::npos);
    CHECK(csv.find("\n0,other,dense,2,main-ended,") != std::string::npos);
    CHECK(csv.find("\n1,main,dgc,8,finished,8,20,") != std::string::npos);
    CHECK(csv.find("\n1,other,dense,2,main-ended,") != std::string::npos);
    CHECK(results_csv({study_of("{}"), {{run("{}")}}}).starts_with("point,algorithm,nodes,"));
}

TEST_CASE("other jobs: check names them, and background traffic, beside their points") {
    const std::string text = check_text(study_of(fmt::format(
        R"({{"cluster": {{"background": [
            {{"kind": "constant", "from": 0, "to": 3, "rate": "1Gbps"}}]}}, "other_jobs": [{}]}})",
        job("neighbor", "\"odd\""))));

    CHECK(text.find("alongside: dense                   4 workers  8MB          neighbor\n") !=
          std::string::npos);
    CHECK(text.find("alongside: a source of background traffic\n") != std::string::npos);
    CHECK(check_text(study_of("{}")).find("beside it") == std::string::npos);
}

TEST_CASE("other jobs: over seeds each has a mean of its own") {
    const Study study = study_of(fmt::format(
        R"({{"other_jobs": [{}], "sweep": {{"seed": [1, 2, 3]}}}})", job("other", "[0, 5]")));
    std::vector<PointResult> results;
    for (const Point& point : study.points) results.push_back({run_point(point.scenario, nullptr)});
    const std::string csv = summary_csv({study, results}).value();

    CHECK(csv.starts_with("job,algorithm,nodes,points,"));
    CHECK(csv.find("\nmain,dense,8,3,8,0,3,20,0,3,") != std::string::npos);
    CHECK(csv.find("\nother,dense,2,3,") != std::string::npos);
}

TEST_CASE("other jobs: lists of them are named by their labels on an axis") {
    const Study study =
        study_of(fmt::format(R"({{"sweep": {{"other_jobs": [[], [{}], [{}, {}]]}}}})",
                             job("a", "[0, 1]"), job("a", "[0, 1]"), job("b", "[2, 3]")));

    CHECK(study.axes.at(0).names == std::vector<std::string>{"none", "a", "a+b"});
    CHECK(study.points[2].scenario.other_jobs.size() == 2);
}

TEST_CASE("other jobs: the same scenario gives the same results") {
    const std::string changes =
        fmt::format(R"({{"other_jobs": [{}, {}],
        "cluster": {{"background": [{{"kind": "on-off", "from": 0, "to": 3, "rate": "1Gbps",
                                      "on": "20ms", "off": "30ms"}}]}}}})",
                    job("a", "\"odd\"", R"({"kind": "dgc"})"), job("b", "[0, 5]"));
    const Metrics once = run(changes);
    const Metrics again = run(changes);

    CHECK(once.sim_time_s == again.sim_time_s);
    CHECK(once.events == again.events);
    for (std::size_t i = 0; i < 2; ++i)
        CHECK(once.other_jobs.at(i).step_time_s == again.other_jobs.at(i).step_time_s);
}

TEST_CASE("other jobs: what is wrong with one is told at its place") {
    CHECK(refusal(R"({"other_jobs": {}})").starts_with("other_jobs: is not a list of jobs"));
    CHECK(refusal(fmt::format(R"({{"other_jobs": [{}]}})", job("main", "\"odd\""))) ==
          "other_jobs[0]: \"main\" is already another job's label; each job needs its own");
    CHECK(refusal(fmt::format(R"({{"other_jobs": [{}]}})", job("a", "[8]")))
              .starts_with("other_jobs[0].nodes[0]: "));
    CHECK(refusal(R"({"other_jobs": [{"label": "a", "nodes": "odd", "algorithm": {"kind": "dense"},
        "workload": {"model": {"kind": "softmax-regression"}, "batch": 4, "step_time": "1s",
                     "data": {"kind": "gaussian-mixture"}}}]})") ==
          "other_jobs[0].workload: has a \"model\"; only the main job trains: give a profile");
    CHECK(refusal(fmt::format(R"({{"other_jobs": [{}]}})",
                              job("a", "\"odd\"", R"({"kind": "ps-async"})")),
                  R"({"kind": "ring", "link": {"bandwidth": "1Gbps"}})")
              .starts_with("other_jobs[0].algorithm: its server has its own node"));
}

TEST_CASE("background: a link that it fills leaves the job its share, and its bytes are nobody's") {
    // Two sources send to node 3, which takes part in a ring of 8: a third of its link is left for
    // the ring.
    const std::string changes = R"({"cluster": {"background": [
        {"kind": "constant", "from": 0, "to": 3, "rate": "1Gbps", "message": "1GB"},
        {"kind": "constant", "from": 1, "to": 3, "rate": "1Gbps", "message": "1GB"}]}})";
    const Metrics idle = run("{}");
    const Metrics busy = run(changes);

    CHECK(busy.outcome == "finished");
    CHECK(!busy.model_step_time_s);
    CHECK(busy.bytes_sent_per_node_per_step == idle.bytes_sent_per_node_per_step);
    CHECK(busy.bytes_received_per_node_per_step == idle.bytes_received_per_node_per_step);
    CHECK(busy.step_time_s.value() == Approx(ring_step(8, 3)).epsilon(1e-3));
    CHECK(idle.step_time_s.value() == Approx(ring_step(8, 1)).epsilon(1e-9));
}

TEST_CASE("background: it runs on machines of several devices, and between nodes of no job") {
    const Metrics metrics = run(R"({"cluster": {"nodes": 4, "devices_per_node": 2,
        "placement": [0, 1], "bus": {"kind": "switched", "link": {"bandwidth": "100Gbps"}},
        "background": [{"kind": "constant", "from": 2, "to": 3, "rate": "1Gbps"},
                       {"kind": "constant", "from": 0, "to": 3, "rate": "1Gbps"}]},
        "workload": {"step_time": null, "gradient_time": "10ms"}})",
                                star, 4);

    CHECK(metrics.outcome == "finished");
    CHECK(metrics.devices == 4);
    CHECK(metrics.exposed_comm_s.value() > 0);
}

const std::string cell = R"({"kind": "cell", "nodes_per_cell": 4, "capacity": "16Mbps",
    "capacity_up": "8Mbps", "link": {"bandwidth": "12Mbps", "bandwidth_up": "1Mbps",
    "latency": "10ms"}, "server_link": {"bandwidth": "10Gbps", "latency": "1ms"}})";

TEST_CASE("cell: a round of FedAvg takes the air down, the computing and the links up") {
    // Four nodes of a cell: down, each gets 4 Mbps, a quarter of the air; up, each has its own 1
    // Mbps.
    const Metrics m = run(R"({"algorithm": {"kind": "fedavg"}, "stop": {"iterations": 3},
                              "workload": {"gradient": "1MB", "step_time": "10ms"}})",
                          cell);

    CHECK(m.outcome == "finished");
    CHECK(m.step_time_s.value() == Approx(2.0 + 10e-3 + 8.0 + 2 * 11e-3).epsilon(1e-6));
}

TEST_CASE("cell: algorithms with servers run on it") {
    for (const char* algorithm : {R"({"kind": "ps-sync"})", R"({"kind": "ps-async"})",
                                  R"({"kind": "ps-stale"})", R"({"kind": "dense"})"}) {
        CAPTURE(algorithm);
        const Metrics m = run(
            fmt::format(R"({{"algorithm": {}, "stop": {{"iterations": 3}}}})", algorithm), cell);
        CHECK(m.outcome == "finished");
        CHECK(!m.model_step_time_s);
    }
}

TEST_CASE("cell: a preset's latency is that to the core, an explicit one that of the link") {
    const auto latency = [](const std::string& link) {
        const Json json = Json::parse(fmt::format(
            R"({{"kind": "cell", "nodes_per_cell": 2, "capacity": "100Mbps", "link": {},
                 "other_links": [{{"nodes": [1], "link": {{"preset": "3g"}}}}]}})",
            link));
        static const std::string file = "file.json";
        const Fabric fabric = read_fabric({&json, &file, "fabric"}, 3).make(4, 1);
        CHECK(to_seconds(fabric.links[1].latency) == Approx(150e-3));
        CHECK(fabric.links[3].bandwidth == Bandwidth{10'000'000'000});
        return to_seconds(fabric.links[0].latency);
    };

    CHECK(latency(R"({"preset": "lte"})") == Approx(35e-3));
    CHECK(latency(R"({"preset": "lte", "latency": "20ms"})") == Approx(20e-3));
    CHECK(latency(R"({"bandwidth": "12Mbps", "latency": "20ms"})") == Approx(20e-3));
}

TEST_CASE("star: other links are those of the nodes that they name, and servers have their own") {
    const std::string fabric = R"({"kind": "star", "link": {"bandwidth": "1Gbps"},
        "other_links": [{"nodes": [5, 6],
                         "link": {"bandwidth": "100Mbps", "bandwidth_up": "10Mbps"}},
                        {"nodes": {"from": 6, "to": 7}, "link": {"bandwidth": "2Gbps"}}],
        "server_link": {"bandwidth": "40Gbps"}})";
    static const std::string file = "file.json";
    const Json json = Json::parse(fabric);
    const FabricChoice choice = read_fabric({&json, &file, "fabric"}, 8);
    const Fabric made = choice.make(9, 1);
    const auto up = [&](int host) { return made.links[static_cast<std::size_t>(host)].bandwidth; };
    const auto down = [&](int host) {
        return made.links[static_cast<std::size_t>(9 + host)].bandwidth;
    };

    CHECK(!choice.as_idle_star);
    CHECK(up(4) == Bandwidth{1'000'000'000});
    CHECK(up(5) == Bandwidth{10'000'000});
    CHECK(down(5) == Bandwidth{100'000'000});
    CHECK(up(6) == Bandwidth{2'000'000'000});
    CHECK(down(7) == Bandwidth{2'000'000'000});
    CHECK(up(8) == Bandwidth{40'000'000'000});
    CHECK(down(8) == Bandwidth{40'000'000'000});
}

TEST_CASE("star: a ring goes at the pace of its slowest link") {
    const Metrics m = run("{}", R"({"kind": "star",
        "link": {"bandwidth": "1Gbps", "latency": "25us"},
        "other_links": [{"nodes": [5], "link": {"bandwidth": "250Mbps", "latency": "25us"}}]})");

    CHECK(m.step_time_s.value() == Approx(ring_step(8, 4)).epsilon(1e-9));
    CHECK(!m.model_step_time_s);
}

// The figures of scenarios/shared-network.json, derived from the ring's steps: every message of a
// job crosses the spine together with three others of its leaf, over an uplink of 20 Gbps.
struct Figures {
    double compute_s = 0.15;
    double latency_s = 4 * 10e-6;
    double share = 20e9 / 8 / 4;  // bytes/s of a message if nobody else sends
    double dense_bytes;
    double block_bytes;

    [[nodiscard]] double dense(double slower) const {
        return compute_s + 30 * (latency_s + slower * dense_bytes / 16 / share);
    }
    [[nodiscard]] double dgc(double slower) const {
        return compute_s + 15 * (latency_s + slower * block_bytes / share);
    }
};

TEST_CASE("shared network: the shipped study has the step times of docs/shared-networks.md") {
    const Study study =
        read_study(std::string(PACELINE_SOURCE_DIR) + "/scenarios/shared-network.json", {});
    REQUIRE(study.points.size() == 6);
    std::vector<Metrics> results;
    for (const Point& point : study.points) results.push_back(run_point(point.scenario, nullptr));
    const auto step = [&](std::size_t i) { return results[i].step_time_s.value(); };
    const auto other = [&](std::size_t i) {
        return results[i].other_jobs.at(0).step_time_s.value();
    };
    const Scenario& dense = study.points[0].scenario;
    const Scenario& dgc = study.points[3].scenario;
    Figures figures;
    figures.dense_bytes =
        static_cast<double>(dense.algorithm.contribution(*dense.workload.layout, 0, 0).count);
    figures.block_bytes =
        static_cast<double>(dgc.algorithm.contribution(*dgc.workload.layout, 0, 0).count);

    // Alone, and beside an identical job, which is always in step.
    CHECK(step(0) == Approx(figures.dense(1)).epsilon(1e-6));
    CHECK(step(1) == Approx(figures.dense(2)).epsilon(1e-6));
    CHECK(other(1) == Approx(step(1)).epsilon(1e-9));
    CHECK(step(3) == Approx(figures.dgc(1)).epsilon(1e-6));
    CHECK(step(5) == Approx(figures.dgc(2)).epsilon(1e-6));
    CHECK(other(5) == Approx(step(5)).epsilon(1e-9));
    // Beside each other: DGC gets at least half of the spine, and dense SGD loses at most what DGC
    // sends.
    const double sent_of_a_step = 15 * figures.block_bytes / figures.share / figures.dgc(1);
    for (const double dgc_step : {step(4), other(2)}) {
        CHECK(dgc_step > figures.dgc(1));
        CHECK(dgc_step < figures.dgc(2));
        CHECK(dgc_step / figures.dgc(1) == Approx(1.037).epsilon(1e-3));
    }
    for (const double dense_step : {step(2), other(4)}) {
        CHECK(dense_step > figures.dense(1));
        CHECK(dense_step < figures.dense(1) / (1 - sent_of_a_step));
        CHECK(dense_step / figures.dense(1) == Approx(1.037).epsilon(1e-3));
    }
    CHECK(step(1) / step(0) == Approx(1.670).epsilon(1e-3));
    CHECK(step(5) / step(3) == Approx(1.056).epsilon(1e-3));
}

TEST_CASE("shared network: with ranks in the order of nodes both jobs fit on the spine") {
    const Study study = read_study(
        std::string(PACELINE_SOURCE_DIR) + "/scenarios/shared-network.json",
        {"cluster.placement=even", fmt::format("other_jobs=[{}]", R"({"label": "b", "nodes": "odd",
            "workload": {"profile": "resnet-50", "step_time": "150ms"},
            "algorithm": {"kind": "dense"}})")});
    const Metrics m = run_point(study.points.front().scenario, nullptr);
    const Scenario& dense = study.points.front().scenario;
    const auto bytes =
        static_cast<double>(dense.algorithm.contribution(*dense.workload.layout, 0, 0).count);

    // One message of a job crosses between leaves per step, at the 10 Gbps of its node.
    CHECK(m.step_time_s.value() == Approx(0.15 + 30 * (40e-6 + bytes / 16 / 1.25e9)).epsilon(1e-6));
    CHECK(m.other_jobs.at(0).step_time_s.value() == Approx(*m.step_time_s).epsilon(1e-6));
}

Task<> wait_for_a_letter(Worker& self) {
    co_await self.mail().next_letter(0);
}

TEST_CASE("shared network: a deadlock ends the run, with its name, whatever else is on the wires") {
    Scenario scenario =
        study_of(fmt::format(R"({{"cluster": {{"placement": "even", "background": [
            {{"kind": "constant", "from": 0, "to": 3, "rate": "100Mbps"}},
            {{"kind": "on-off", "from": 1, "to": 2, "rate": "1Gbps", "on": "1s", "off": "1s"}}]}},
            "other_jobs": [{}, {}]}})",
                             job("a", "\"all\""), job("b", "[1, 2]", R"({"kind": "ps-async"})")))
            .points.front()
            .scenario;
    scenario.algorithm.run = [](Worker& worker) { return wait_for_a_letter(worker); };
    const Metrics m = run_point(scenario, nullptr);

    CHECK(m.outcome == "deadlock");
    CHECK(m.outcome_details.starts_with("node 0 waits for "));
    CHECK(m.outcome_details.find("node 3 waits for ") != std::string::npos);
    CHECK(m.outcome_details.find("background") == std::string::npos);
    CHECK(m.outcome_details.find("more") == std::string::npos);
}

TEST_CASE("shared network: other jobs change when a job learns, not what it learns") {
    const TrainingStudy training;
    const std::vector<std::string> busy{
        R"(other_jobs=[{"label": "b", "nodes": "all", "algorithm": {"kind": "dense"},
                        "workload": {"gradient": "1MB", "step_time": "1ms"}}])",
        R"(cluster.background=[{"kind": "constant", "from": 0, "to": 1, "rate": "500Mbps"}])"};
    const Metrics alone = training.run();
    const Metrics among_others = training.run(busy);

    REQUIRE(alone.timeline.size() == among_others.timeline.size());
    for (std::size_t i = 0; i < alone.timeline.size(); ++i)
        CHECK(alone.timeline[i].train_loss == among_others.timeline[i].train_loss);
    CHECK(among_others.sim_time_s > alone.sim_time_s);
    CHECK(among_others.total_sent_gb == alone.total_sent_gb);
}

TEST_CASE("shared network: the baseline of learning is alone") {
    const TrainingStudy training;
    const double loss = training.run().timeline.at(1).train_loss;
    const auto baseline_s = [&](std::vector<std::string> settings) {
        settings.insert(settings.end(), {fmt::format("measure.target_loss={}", loss * 1.0001),
                                         "measure.baseline=true"});
        const Study study = training.read(settings);
        std::vector<PointResult> results = run_points(study, 1);
        const Metrics& m = results.front().metrics;
        return m.speedup_to_target.value() * m.time_to_target_s.value();
    };
    const std::string other = R"(other_jobs=[{"label": "b", "nodes": [2, 3],
        "algorithm": {"kind": "dense"}, "workload": {"gradient": "1MB", "step_time": "1ms"}}])";
    const std::string background =
        R"(cluster.background=[{"kind": "constant", "from": 0, "to": 3, "rate": "500Mbps"}])";

    CHECK(baseline_s({other, background}) == Approx(baseline_s({})).epsilon(1e-12));
}

TEST_CASE("price: bytes to the target are those at the evaluation that met it") {
    const TrainingStudy training;
    const Metrics all = training.run();
    const double loss = all.timeline.at(2).train_loss;  // after 4 iterations
    const Metrics m = training.run({fmt::format("measure.target_loss={}", loss * 1.0001)});

    REQUIRE(m.time_to_target_s);
    CHECK(*m.time_to_target_s == all.timeline[2].sim_time_s);
    CHECK(m.sent_gb_to_target.value() == Approx(4.0 / 6 * m.total_sent_gb.value()).epsilon(1e-9));
    CHECK(!all.sent_gb_to_target);
}

TEST_CASE("price: cost is the bytes of all workers at their price") {
    const Metrics m = run(R"({"price": {"up_per_gb": 2.0, "down_per_gb": 0.5}})");

    CHECK(m.total_sent_gb.value() == Approx(8 * 14e6 * 20 * 1e-9).epsilon(1e-12));
    CHECK(m.total_received_gb.value() == Approx(8 * 14e6 * 20 * 1e-9).epsilon(1e-12));
    CHECK(m.cost.value() == Approx(2.5 * 8 * 14e6 * 20 * 1e-9).epsilon(1e-12));
    CHECK(!run("{}").cost);
    CHECK(run(R"({"price": {"up_per_gb": 2.0}})").cost.value() ==
          Approx(2 * 8 * 14e6 * 20 * 1e-9).epsilon(1e-12));
}

TEST_CASE("price: other jobs pay it for their own bytes") {
    const Metrics m = run(fmt::format(
        R"({{"price": {{"down_per_gb": 3}}, "other_jobs": [{}]}})",
        job("other", "[0, 1]", R"({"kind": "dense"})", R"(, "stop": {"iterations": 5})")));

    CHECK(m.other_jobs.at(0).cost.value() == Approx(3 * 2 * 8e6 * 5 * 1e-9).epsilon(1e-12));
}

TEST_CASE("price: nothing has a price below 0") {
    CHECK(refusal(R"({"price": {"up_per_gb": -1}})").starts_with("price.up_per_gb: "));
    CHECK(refusal(R"({"price": {"up_per_mb": 1}})").find("did you mean \"up_per_gb\"") !=
          std::string::npos);
}

}  // namespace
}  // namespace paceline::shared_network_test
