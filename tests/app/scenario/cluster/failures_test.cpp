// The "failures" of a scenario: what is accepted, what is refused, and how every algorithm reacts.
#include "app/scenario/cluster/failures.hpp"

#include <algorithm>
#include <chrono>
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

using namespace std::chrono_literals;
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
          "cluster.failures: does not say which nodes fail; give \"schedule\", \"mean_between\" or "
          "\"trace\"");
    CHECK(problem(Json{{"schedule", Json::array()}})
              .starts_with("cluster.failures.schedule: is not a list such as"));
    CHECK(problem(Json{{"schedule", {{{"node", 9}, {"at", "1s"}}}}})
              .starts_with("cluster.failures.schedule[0].node: "));
    CHECK(problem(Json{{"schedule", {{{"node", 1}, {"at", "1s"}, {"for", "0s"}}}}}) ==
          "cluster.failures.schedule[0].for: is not a time; leave it out if the node stays away");
    CHECK(problem(
              Json{{"schedule",
                    {{{"node", 1}, {"at", "1s"}, {"for", "9s"}}, {{"node", 1}, {"at", "5s"}}}}}) ==
          "cluster.failures.schedule: node 1 fails at 5s while it is away since 1s; give it one "
          "absence at a time");
    CHECK(problem(Json{{"mean_between", "1h"}}).find("\"mean_repair\" is missing") !=
          std::string::npos);
    CHECK(problem(Json{{"mean_between", "0s"}, {"mean_repair", "1s"}}) ==
          "cluster.failures.mean_between: must be above 0");
    CHECK(problem(Json{{"schedule", {{{"node", 1}, {"at", "1s"}}}}, {"mean_repair", "1s"}}) ==
          "cluster.failures.mean_repair: goes with \"mean_between\"");
    CHECK(problem(
              Json{{"mean_between", "1h"}, {"mean_repair", "1s"}, {"return_from", "checkpoint"}}) ==
          "cluster.failures.return_from: needs a \"checkpoint\" with the times of writing and "
          "reading");
    CHECK(problem(Json{{"mean_between", "1h"},
                       {"mean_repair", "1s"},
                       {"on_death", "restart"},
                       {"return_from", "peer"}}) ==
          "cluster.failures.return_from: all nodes go back to the checkpoint when \"on_death\" is "
          "\"restart\"");
    CHECK(problem(Json{{"mean_between", "1h"}, {"mean_repair", "1s"}, {"return_from", "own"}}) ==
          "cluster.failures: all nodes of this algorithm have the same model; set \"return_from\" "
          "to \"peer\"");
}

TEST_CASE("failures: what an algorithm cannot do is refused") {
    const TemporaryFolder folder;
    Json study = study_with({{"mean_between", "1h"}, {"mean_repair", "1s"}});
    study["algorithm"] = {{"kind", "one-bit-sgd"}};
    CHECK(problem(folder, study) ==
          "cluster.failures: this algorithm cannot continue without a node, nor readmit one; set "
          "\"on_death\" to \"restart\"");
    study["algorithm"] = {{"kind", "dsgd"}, {"mixing", {{"kind", "ring"}}}};
    study["cluster"]["failures"]["on_death"] = "stall";
    CHECK(problem(folder, study) ==
          "cluster.failures: no worker stalls in this algorithm; set \"on_death\" to \"go-on\"");
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
          "line 2: 1.5 is not a node; nodes are whole numbers");
    CHECK(told("node,leaves_s,returns_s\n1,2,5\n1,4,9\n") ==
          "line 3: the node is already away, according to another row");
    CHECK(told("node,leaves_s,returns_s\n1,4,9\n2,1,2\n1,2,5\n") ==
          "line 4: the node is already away, according to another row");
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

// Returns the absences of node 1 until a time, each seen once the one before is over.
std::vector<Absence> absences_until(const TemporaryFolder& folder, const std::string& table,
                                    const Json& trace, Time end) {
    static_cast<void>(folder.write("away.csv", table));
    const Study study =
        read_study(folder.write("study.json", study_with({{"trace", trace}}).dump()), {});
    const Scenario& scenario = study.points.front().scenario;
    std::vector<std::vector<int>> machines;
    for (int rank = 0; rank < 8; ++rank) machines.push_back({rank});
    Failures failures = make_failures(*scenario.cluster.failures, scenario.algorithm, machines, 1);
    std::vector<Absence> absences;
    for (Time since{};;) {
        const std::optional<Absence> next = failures.next_absence(1, since);
        if (!next || next->leaves >= end) return absences;
        absences.push_back(*next);
        since = next->returns;
        if (since == never) return absences;
    }
}

TEST_CASE("failures: a trace goes around the end of its period") {
    const TemporaryFolder folder;
    const Json daily = {{"file", "away.csv"}, {"period", "24s"}};
    const Time end{60s};
    const std::vector<Absence> around =
        absences_until(folder, "node,leaves_s,returns_s\n1,22,6\n1,12,13\n", daily, end);
    // At night and at noon, as rows within the period say it
    const std::vector<Absence> split =
        absences_until(folder, "node,leaves_s,returns_s\n1,22,24\n1,0,6\n1,12,13\n", daily, end);
    REQUIRE(around.size() == 5);
    CHECK(around[0].leaves == Time{});
    CHECK(around[0].returns == Time{6s});
    CHECK(around[1].leaves == Time{12s});
    CHECK(around[2].leaves == Time{22s});
    CHECK(around[2].returns == Time{30s});
    CHECK(around[3].leaves == Time{36s});
    CHECK(around[4].leaves == Time{46s});
    // The oracle: the node is away at the same instants
    const auto is_away = [](const std::vector<Absence>& absences, Time at) {
        return std::ranges::any_of(
            absences, [at](const Absence& a) { return a.leaves <= at && at < a.returns; });
    };
    for (int half = 0; half < 110; ++half) {
        const Time at{half * Duration{500ms}};
        CAPTURE(half);
        CHECK(is_away(around, at) == is_away(split, at));
    }
}

TEST_CASE("failures: a node of a trace may never return, if there is no period") {
    const TemporaryFolder folder;
    const std::vector<Absence> absences = absences_until(
        folder, "returns_s,node,leaves_s\n3,1,2\nnever,1,7\n", {{"file", "away.csv"}}, end_of_time);
    REQUIRE(absences.size() == 2);
    CHECK(absences[0].leaves == Time{2s});
    CHECK(absences[0].returns == Time{3s});
    CHECK(absences[1].leaves == Time{7s});
    CHECK(absences[1].returns == never);

    const auto told = [&](const std::string& table, const Json& trace) {
        static_cast<void>(folder.write("away.csv", table));
        return problem(folder, study_with({{"trace", trace}}));
    };
    CHECK(told("node,leaves_s,returns_s\n1,2,never\n1,7,9\n", {{"file", "away.csv"}}) ==
          "line 3: the node is already away, according to another row");
    CHECK(told("node,leaves_s,returns_s\n1,2,sometime\n", {{"file", "away.csv"}}) ==
          "line 2: \"sometime\" is not a time in seconds, within the period: a number from 0 to "
          "9000000, or \"never\"");
    const Json daily = {{"file", "away.csv"}, {"period", "60s"}};
    CHECK(told("node,leaves_s,returns_s\n1,2,never\n", daily) ==
          "line 2: \"never\" is not a time in seconds, within the period: a number from 0 to 60");
    CHECK(told("node,leaves_s,returns_s\n1,50,6\n1,5,7\n", daily) ==
          "line 2: the node is already away, according to another row");
    CHECK(told("node,leaves_s,returns_s\n1,50,5\n1,5,7\n", daily) == "none");
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
                CHECK(refused.starts_with("cluster.failures: this algorithm cannot continue"));
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
