// Runs with failures, from scenarios that once ended wrongly.
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/json/config_error.hpp"
#include "app/run/run_point.hpp"
#include "app/scenario/algorithms/algorithms.hpp"
#include "app/study/study_file.hpp"
#include "tests/app/host/temporary_folder.hpp"
#include "tests/app/scenario/algorithms/plain_algorithm.hpp"

namespace paceline::failing_runs_test {
namespace {

using doctest::Approx;

Metrics run(const TemporaryFolder& folder, const std::string& scenario) {
    const std::string file = folder.write("scenario.json", scenario);
    return run_point(read_study(file, {}).points.front().scenario, nullptr);
}

// The link of node 0 goes down for ever; then node 2 dies for ever, and all processes end. The
// letters under way outlive them.
TEST_CASE(
    "failing runs: a restart that never comes names the node that died, and no freed process") {
    const TemporaryFolder folder;
    static_cast<void>(folder.write("dead.csv", "time_s,up_mbps,down_mbps\n0,100,100\n0.5,0,100\n"));

    const Metrics m = run(folder, R"({
        "cluster": {"nodes": 4,
                    "fabric": {"kind": "star", "link": {"bandwidth": "100Mbps", "latency": "50ms"}},
                    "access": [{"kind": "trace", "file": "dead.csv", "nodes": [0]}],
                    "failures": {"schedule": [{"node": 2, "at": "1s"}], "detection": "10ms",
                                 "on_death": "restart"}},
        "workload": {"step_time": "30ms", "gradient": "1MB"},
        "algorithm": {"kind": "ps-async"}, "stop": {"iterations": 1000}})");

    CHECK(m.outcome == "deadlock");
    CHECK(m.outcome_details.starts_with("node 2 died at 1 s and never returns"));
}

std::string local_sgd(const std::string& on_death, int iterations) {
    return fmt::format(R"({{
        "cluster": {{"nodes": 3, "fabric": {{"kind": "star", "link": {{"bandwidth": "1Gbps"}}}},
                     "failures": {{"schedule": [{{"node": 2, "at": "100ms", "for": "800ms"}}],
                                   "detection": "10ms", "on_death": "{}",
                                   "return_from": "peer"}}}},
        "workload": {{"step_time": "10ms", "gradient": "1GB"}},
        "algorithm": {{"kind": "local-sgd", "period": 1000}}, "stop": {{"iterations": {}}}}})",
                       on_death, iterations);
}

// The node returns at 0.9 s, and its copy of a model takes 8 s more.
TEST_CASE("failing runs: a run ends with the last step, and not with a return that nobody needs") {
    const TemporaryFolder folder;
    for (const int iterations : {100, 95, 200}) {
        const Metrics m = run(folder, local_sgd("go-on", iterations));
        CHECK(m.outcome == "finished");
        CHECK(m.sim_time_s == Approx(0.01 * iterations).epsilon(1e-12));
    }
}

// Step 999 ends with an average of the models, for which the others wait until the node has joined:
// it has its model at 8.9 s.
TEST_CASE("failing runs: where others wait for it, a return keeps the run alive") {
    const TemporaryFolder folder;
    const Metrics m = run(folder, local_sgd("stall", 1000));

    CHECK(m.outcome == "finished");
    CHECK(m.sim_time_s > 10);
}

// The network at the end of a run.
struct Left {
    Metrics metrics;
    std::size_t lanes = 0;
    std::size_t messages = 0;
};

Left left_by(const TemporaryFolder& folder, const std::string& scenario) {
    const std::string file = folder.write("scenario.json", scenario);
    Left left;
    const Network* network = nullptr;
    Observer observer;
    observer.begins = [&](const Machine& machine) { network = &machine.network; };
    observer.ends = [&](const Cluster&) {
        left.lanes = network->lanes();
        left.messages = network->messages();
    };
    left.metrics = run_point(read_study(file, {}).points.front().scenario, nullptr, {}, &observer);
    return left;
}

// A node dies every 20 ms or so, 100 times.
std::string deaths_of(int node, const std::string& away) {
    std::string deaths;
    for (int i = 1; i <= 100; ++i)
        deaths += fmt::format(R"({}{{"node": {}, "at": "{}us", "for": "{}"}})", i > 1 ? ", " : "",
                              node, 20'000 * i + 30 * i - 7'000 * node, away);
    return deaths;
}

// Node 3 takes 5 ms for a gradient and the others 1 ms, so that theirs wait at the server when node
// 0 dies. The server is no process of the job; an all-reduce acts for it.
TEST_CASE("failing runs: a restart leaves nothing of the all-reduce at its server") {
    const TemporaryFolder folder;
    const Left left = left_by(folder, fmt::format(R"({{
        "cluster": {{"nodes": 4, "fabric": {{"kind": "star", "link": {{"bandwidth": "1Gbps"}}}},
                     "speeds": {{"kind": "list", "values": [1, 1, 1, 5]}},
                     "failures": {{"schedule": [{}], "detection": "1ms", "on_death": "restart"}}}},
        "workload": {{"step_time": "1ms", "gradient": "100kB"}},
        "algorithm": {{"kind": "dense", "all_reduce": "parameter-server"}},
        "stop": {{"time": "3s"}}}})",
                                                  deaths_of(0, "5ms")));

    CHECK(left.metrics.outcome == "time-limit");
    CHECK(left.lanes <= 2 * 4);
    CHECK(left.messages <= 2 * 4);
}

// A model takes 80 ms to clients that live for 20 ms. Of the server's models to each, one flows on
// and one waits.
TEST_CASE("failing runs: lives that are shorter than a transfer do not pile up models") {
    const TemporaryFolder folder;
    const Left left = left_by(folder, fmt::format(R"({{
        "cluster": {{"nodes": 2, "fabric": {{"kind": "star", "link": {{"bandwidth": "100Mbps"}}}},
                     "failures": {{"schedule": [{}, {}], "on_death": "go-on"}}}},
        "workload": {{"step_time": "1ms", "gradient": "1MB", "batch": 1, "dataset_samples": 10}},
        "algorithm": {{"kind": "fedavg"}},
        "stop": {{"time": "2s"}}}})",
                                                  deaths_of(0, "1ms"), deaths_of(1, "1ms")));

    CHECK(left.metrics.outcome == "time-limit");
    CHECK(left.messages <= 2 * 2);
}

// Nodes return while fragments are encoded, beside steps, and between the two halves of their
// exchange.
TEST_CASE("failing runs, property: nodes come and go beside the exchanges of Streaming DiLoCo") {
    const TemporaryFolder folder;
    for (const std::string on_death : {"go-on", "stall"})
        for (const std::string codec :
             {R"("8-bit")", R"({"kind": "terngrad", "scaler": "shared"})",
              R"({"kind": "8-bit", "coding": {"encode": {"per_tensor": "4ms"}}})"})
            for (const std::string aggregation : {"all-gather", "two-phase"})
                for (int seed = 1; seed <= 5; ++seed) {
                    const std::string scenario = fmt::format(R"({{
                        "seed": {},
                        "cluster": {{"nodes": 5,
                                     "fabric": {{"kind": "star", "link": {{"bandwidth": "100Mbps"}}}},
                                     "failures": {{"mean_between": "60ms", "mean_repair": "9ms",
                                                   "nodes": [0, 1, 3], "detection": "1ms",
                                                   "on_death": "{}"}}}},
                        "workload": {{"step_time": "3ms", "gradient": "100kB", "batch": 1,
                                      "dataset_samples": 10}},
                        "algorithm": {{"kind": "streaming-diloco", "period": 20, "delay": 4,
                                       "codec": {}, "aggregation": "{}"}},
                        "stop": {{"iterations": 400}}}})",
                                                             seed, on_death, codec, aggregation);
                    CAPTURE(scenario);
                    CHECK(run(folder, scenario).outcome == "finished");
                }
}

// Found by a fuzz test: what is merged by the times of its exchanges was not, once nodes could
// fail.
std::string failing(const std::string& algorithm, const std::string& failures,
                    const std::string& step_time) {
    return fmt::format(R"({{
        "cluster": {{"nodes": 4, "fabric": {{"kind": "star", "link": {{"bandwidth": "1000Gbps"}}}},
                     "failures": {}}},
        "workload": {{"step_time": "{}", "profile": "alexnet", "batch": 4}},
        "algorithm": {}, "stop": {{"iterations": 20}}}})",
                       failures, step_time, algorithm);
}

// Nodes live for 1 ms on average, and a step takes a second: nobody ever comes to its end.
TEST_CASE(
    "failing runs, property: where nodes die before a step is over, every run ends and says so") {
    const TemporaryFolder folder;
    int ran = 0;
    for (const AlgorithmEntry& entry : algorithm_table())
        for (const char* on_death : {"restart", "go-on", "stall"}) {
            const std::string file = folder.write(
                "vain.json", failing(plain_algorithm(entry.name).dump(),
                                     fmt::format(R"({{"mean_between": "1ms", "mean_repair": "1ms",
                                         "detection": "1ms", "on_death": "{}"}})",
                                                 on_death),
                                     "1s"));
            CAPTURE(entry.name);
            CAPTURE(on_death);
            try {
                const Study study = read_study(file, {});
                const Metrics m = run_point(study.points.front().scenario, nullptr);
                ++ran;
                if (study.points.front().scenario.algorithm.when_nodes_die ==
                    WhenNodesDie::server_goes_on) {
                    CHECK((m.outcome == "no-progress" || m.outcome == "finished"));
                    continue;
                }
                CHECK(m.outcome == "no-progress");
                CHECK(m.outcome_details.find("and none came further") != std::string::npos);
                CHECK(m.deaths == 10'000);
                CHECK(!m.step_time_s);
                CHECK(!m.speedup);
            } catch (const ConfigError& refused) {  // such as one that cannot go on without a node
                CHECK(refused.problem().size() > 0);
            }
        }
    CHECK(ran > 60);
}

// The checkpoint of a step is reached now and then: 10,000 deaths in all are no reason to end.
TEST_CASE("failing runs: deaths count only while nobody comes further") {
    const TemporaryFolder folder;
    const Metrics m = run(folder, failing(R"({"kind": "dense"})", R"({"mean_between": "30ms",
        "mean_repair": "1ms", "detection": "0s", "on_death": "restart",
        "checkpoint": {"every": "1ms", "write": "0s", "read": "0s"}})",
                                          "30ms"));
    CHECK(m.outcome == "finished");
    CHECK(m.deaths > 500);
}

// A node is away for longer than the clock can tell, and the others wait for it.
TEST_CASE("failing runs: the end of the clock is out of range, whatever waits") {
    const TemporaryFolder folder;
    for (
        const char* failures :
        {R"({"schedule": [{"node": 2, "at": "9000000s", "for": "9000000s"}], "on_death": "restart"})",
         R"({"schedule": [{"node": 2, "at": "9000000s", "for": "9000000s"}], "on_death": "stall"})",
         R"({"mean_between": "8000000s", "mean_repair": "9000000s", "on_death": "restart"})"}) {
        CAPTURE(failures);
        const Metrics m = run(folder, failing(R"({"kind": "dense"})", failures, "1000000s"));
        CHECK(m.outcome == "out-of-range");
        CHECK(m.outcome_details == "an event lies beyond the 106 days that a clock can tell");
    }
}

TEST_CASE("failing runs: tensors are merged as if nothing failed, and as if all nodes were equal") {
    const TemporaryFolder folder;
    const auto step_time = [&](const std::string& cluster) {
        const Metrics m = run(folder, fmt::format(R"({{
            "cluster": {{"nodes": 4,
                         "fabric": {{"kind": "star", "link": {{"bandwidth": "1Gbps", "latency": "3ms"}}}}{}}},
            "workload": {{"step_time": "3ms", "gradient": "40kB", "tensors": 10}},
            "algorithm": {{"kind": "sgd", "schedule": "merged"}}, "stop": {{"iterations": 20}}}})",
                                                  cluster));
        return m.step_time_s.value();
    };
    const double equal = step_time("");
    const std::string never = R"("schedule": [{"node": 0, "at": "1000s"}])";

    for (const std::string on_death : {"restart", "go-on", "stall"})
        CHECK(step_time(fmt::format(R"(, "failures": {{{}, "on_death": "{}"}})", never,
                                    on_death)) == Approx(equal).epsilon(1e-9));
    CHECK(step_time(R"(, "speeds": {"kind": "list", "values": [1, 1, 1, 1.000001]})") ==
          Approx(equal).epsilon(1e-5));
}

}  // namespace
}  // namespace paceline::failing_runs_test
