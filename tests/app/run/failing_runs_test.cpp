// Runs with failures, from scenarios that once ended wrongly.
#include <chrono>
#include <filesystem>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "app/run/run_point.hpp"
#include "app/study/study_file.hpp"
#include "tests/app/host/temporary_folder.hpp"

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

}  // namespace
}  // namespace paceline::failing_runs_test
