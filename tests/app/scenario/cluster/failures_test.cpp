// The "failures" of a scenario: what is accepted, what is refused, and how every algorithm reacts.
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/json/config_error.hpp"
#include "app/run/run_point.hpp"
#include "app/scenario/study.hpp"
#include "app/study/run_study.hpp"
#include "app/study/study_file.hpp"
#include "tests/app/host/temporary_folder.hpp"

namespace paceline::failures_test {
namespace {

using Json = nlohmann::json;

Json study_with(const Json& failures) {
    return {
        {"cluster",
         {{"nodes", 8},
          {"fabric", {{"kind", "star"}, {"link", {{"bandwidth", "1Gbps"}, {"latency", "20us"}}}}},
          {"failures", failures}}},
        {"workload", {{"profile", "alexnet"}, {"step_time", "344ms"}}},
        {"algorithm", {{"kind", "dense"}}},
        {"stop", {{"iterations", 5}}}};
}

Metrics run(const TemporaryFolder& folder, const Json& study) {
    return run_point(
        read_study(folder.write("study.json", study.dump()), {}).points.front().scenario, nullptr);
}

// Returns the problem of the refusal, without the file's name.
std::string problem(const TemporaryFolder& folder, const Json& study) {
    try {
        static_cast<void>(read_study(folder.write("study.json", study.dump()), {}));
    } catch (const ConfigError& error) {
        return error.path() + ": " + error.problem();
    }
    return "none";
}

std::string problem(const Json& failures) {
    return problem(TemporaryFolder(), study_with(failures));
}

TEST_CASE("failures: impossible input is refused, with the fix") {
    CHECK(problem(Json{{"on_death", "stall"}}) ==
          "cluster.failures: says not who fails; give \"schedule\", \"mean_between\" or \"trace\"");
    CHECK(problem(Json{{"schedule", Json::array()}})
              .starts_with("cluster.failures.schedule: is not a list such as"));
    CHECK(problem(Json{{"schedule", {{{"node", 9}, {"at", "1s"}}}}})
              .starts_with("cluster.failures.schedule[0].node: "));
    CHECK(problem(Json{{"schedule", {{{"node", 1}, {"at", "1s"}, {"for", "0s"}}}}}) ==
          "cluster.failures.schedule[0].for: is no time; leave it out for good");
    CHECK(problem(
              Json{{"schedule",
                    {{{"node", 1}, {"at", "1s"}, {"for", "9s"}}, {{"node", 1}, {"at", "5s"}}}}}) ==
          "cluster.failures.schedule: node 1 dies at 5s while it is away from 1s on; give it one "
          "absence at a time");
    CHECK(problem(Json{{"mean_between", "1h"}}).find("\"mean_repair\" is missing") !=
          std::string::npos);
    CHECK(problem(Json{{"mean_between", "0s"}, {"mean_repair", "1s"}}) ==
          "cluster.failures.mean_between: a mean time is above 0");
    CHECK(problem(Json{{"schedule", {{{"node", 1}, {"at", "1s"}}}}, {"mean_repair", "1s"}}) ==
          "cluster.failures.mean_repair: goes with \"mean_between\"");
    CHECK(problem(
              Json{{"mean_between", "1h"}, {"mean_repair", "1s"}, {"return_from", "checkpoint"}}) ==
          "cluster.failures.return_from: needs a \"checkpoint\", which says what writing and "
          "reading cost");
    CHECK(problem(Json{{"mean_between", "1h"},
                       {"mean_repair", "1s"},
                       {"on_death", "restart"},
                       {"return_from", "peer"}}) ==
          "cluster.failures.return_from: all go back to the checkpoint when \"on_death\" is "
          "\"restart\"");
    CHECK(problem(Json{{"mean_between", "1h"}, {"mean_repair", "1s"}, {"return_from", "own"}}) ==
          "cluster.failures: a node of this algorithm has the model that all have; set "
          "\"return_from\" to \"peer\"");
}

TEST_CASE("failures: what an algorithm cannot do is refused") {
    const TemporaryFolder folder;
    Json study = study_with({{"mean_between", "1h"}, {"mean_repair", "1s"}});
    study["algorithm"] = {{"kind", "one-bit-sgd"}};
    CHECK(problem(folder, study) ==
          "cluster.failures: this algorithm cannot go on without a node, nor take one up again; "
          "set \"on_death\" to \"restart\"");
    study["algorithm"] = {{"kind", "dsgd"}, {"mixing", {{"kind", "ring"}}}};
    study["cluster"]["failures"]["on_death"] = "stall";
    CHECK(problem(folder, study) ==
          "cluster.failures: nobody stalls in this algorithm; set \"on_death\" to \"go-on\"");
}

TEST_CASE("failures: a table of absences is read line by line") {
    const TemporaryFolder folder;
    const auto told = [&](const std::string& table) {
        static_cast<void>(folder.write("away.csv", table));
        return problem(folder, study_with({{"trace", {{"file", "away.csv"}, {"period", "60s"}}}}));
    };
    CHECK(told("node,leaves_s,returns_s\n1,2,5\n1,7,9\n") == "none");
    CHECK(told("node,from,to\n") ==
          "line 1: the first line is the header: node,leaves_s,returns_s");
    CHECK(told("node,leaves_s,returns_s\n") == "line 1: there is no row below the header");
    CHECK(told("node,leaves_s,returns_s\n\n1,2\n") ==
          "line 3: has 2 fields; a row has 3: node,leaves_s,returns_s");
    CHECK(told("node,leaves_s,returns_s\n8,2,5\n") ==
          "line 2: \"8\" is not a node of the cluster: a number from 0 to 7");
    CHECK(told("node,leaves_s,returns_s\n1,2,61\n") ==
          "line 2: \"61\" is not a time in seconds, within the period: a number from 0 to 60");
    CHECK(told("node,leaves_s,returns_s\n1,5,5\n") ==
          "line 2: the node returns no later than it leaves");
    CHECK(told("node,leaves_s,returns_s\n1,2e-14,3e-14\n") ==
          "line 2: the node returns no later than it leaves");
    CHECK(told("node,leaves_s,returns_s\n1.5,2,5\n") ==
          "line 2: 1.5 is no node; nodes are whole numbers");
    CHECK(told("node,leaves_s,returns_s\n1,2,5\n1,4,9\n") ==
          "line 3: the node is away already, by another row");
    CHECK(told("node,leaves_s,returns_s\n1,4,9\n2,1,2\n1,2,5\n") ==
          "line 4: the node is away already, by another row");
}

TEST_CASE("failures: a trace repeats with its period, a schedule does not") {
    const TemporaryFolder folder;
    static_cast<void>(folder.write("away.csv", "node,leaves_s,returns_s\n3,1,3\n"));
    Json study =
        study_with({{"trace", {{"file", "away.csv"}, {"period", "20s"}}}, {"detection", "100ms"}});
    study["stop"] = {{"time", "60s"}};
    CHECK(run(folder, study).deaths == 3);
    study["cluster"]["failures"] = {{"schedule", {{{"node", 3}, {"at", "1s"}, {"for", "2s"}}}}};
    CHECK(run(folder, study).deaths == 1);
}

TEST_CASE("failures: a run that waits for a dead node ends and names it, whatever else goes on") {
    const TemporaryFolder folder;
    Json study = study_with({{"schedule", {{{"node", 5}, {"at", "2s"}}}}, {"on_death", "stall"}});
    study["cluster"]["access"] = {{{"kind", "on-off"}, {"on", "300ms"}, {"off", "50ms"}},
                                  {{"kind", "outages"},
                                   {"mean_between", "2s"},
                                   {"mean_length", "100ms"},
                                   {"transfers", "restart"}}};
    study["cluster"]["background"] = {
        {{"kind", "constant"}, {"from", 1}, {"to", 2}, {"rate", "200Mbps"}},
        {{"kind", "on-off"},
         {"from", 3},
         {"to", 4},
         {"rate", "1Gbps"},
         {"on", "1s"},
         {"off", "1s"}}};
    const Metrics m = run(folder, study);
    CHECK(m.outcome == "deadlock");
    CHECK(
        m.outcome_details.starts_with("node 5 died at 2 s and never returns; node 0 waits for "
                                      "the return of node 5"));
    CHECK(m.sim_time_s < 60);
}

TEST_CASE("failures, property: every algorithm ends, or refuses by name, and twice alike") {
    Json shipped = Json::parse(
        content(std::filesystem::path(PACELINE_SOURCE_DIR) / "scenarios/all-algorithms.json"));
    const std::vector<Json> all_failures{
        {{"mean_between", "20s"}, {"mean_repair", "2s"}, {"detection", "200ms"}},
        {{"mean_between", "100s"},
         {"mean_repair", "2s"},
         {"on_death", "restart"},
         {"detection", "100ms"},
         {"checkpoint", {{"every", "5s"}, {"write", "100ms"}, {"read", "200ms"}}}}};
    const TemporaryFolder folder;
    int ran = 0;
    for (const Json& failures : all_failures)
        for (Json algorithm : shipped.at("sweep").at("algorithm")) {
            const std::string label = algorithm.value("label", "");
            CAPTURE(label);
            CAPTURE(failures.dump());
            algorithm.erase("optimizer");
            Json study = study_with(failures);
            study["cluster"]["fabric"]["link"]["bandwidth"] = "10Gbps";
            study["algorithm"] = algorithm;
            study["stop"] = {{"iterations", 16}};
            const std::string refused = problem(folder, study);
            if (refused != "none") {
                CHECK(refused.starts_with("cluster.failures: this algorithm cannot go on"));
                CHECK(!failures.contains("checkpoint"));
                continue;
            }
            const Metrics once = run(folder, study);
            CAPTURE(once.outcome_details);
            CHECK(once.outcome == "finished");
            CHECK(once.sim_time_s == run(folder, study).sim_time_s);
            ++ran;
        }
    CHECK(ran > 90);
}

}  // namespace
}  // namespace paceline::failures_test
