// All nodes of a job die at nearly the same time, at every phase of its last steps. Whoever waits
// for a dead node must learn of it, and the run must end.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/json/config_error.hpp"
#include "app/json/object_reader.hpp"
#include "app/run/run_point.hpp"
#include "app/scenario/cluster/failures.hpp"
#include "app/scenario/study.hpp"
#include "app/study/study_file.hpp"
#include "tests/app/host/temporary_folder.hpp"

namespace paceline::all_nodes_die_test {
namespace {

using namespace std::chrono_literals;

constexpr int steps = 4;

// Every algorithm of the shipped comparison, with blocks that end within the few steps.
std::vector<Json> algorithms() {
    const Study study = read_study(PACELINE_SOURCE_DIR "/scenarios/all-algorithms.json", {});
    std::vector<Json> all;
    for (const Point& point : study.points) {
        Json one = Json::parse(point.resolved)["algorithm"];
        one.erase("optimizer");
        for (const auto& [key, value] : {std::pair{"period", 2},
                                         {"local_steps", 2},
                                         {"bound", 1},
                                         {"switch_step", 2},
                                         {"freeze_step", 2},
                                         {"var_freeze_step", 2}})
            if (one.contains(key)) one[key] = value;
        all.push_back(std::move(one));
    }
    for (const char* more : {R"({"label": "slowmo on all-reduce", "kind": "slowmo", "period": 2,
                                 "base": "all-reduce"})",
                             R"({"label": "slowmo on Adam", "kind": "slowmo", "period": 2,
                                 "base": "local-adam"})"})
        all.push_back(Json::parse(more));
    return all;
}

// Returns nothing if the algorithm refuses these failures, or this number of nodes.
std::optional<Scenario> scenario_of(const Json& algorithm, const std::string& on_death, int nodes) {
    Json json = Json::parse(fmt::format(
        R"({{"cluster": {{"nodes": {}, "fabric": {{"kind": "star", "link":
                 {{"bandwidth": "10Gbps", "latency": "10us"}}}},
               "failures": {{"schedule": [{{"node": 0, "at": "1s"}}], "on_death": "{}"}}}},
             "workload": {{"gradient": "500kB", "step_time": "1ms"}},
             "algorithm": {{"kind": "dense"}}, "stop": {{"iterations": {}, "time": "20s"}}}})",
        nodes, on_death, steps));
    json["algorithm"] = algorithm;
    if (on_death == "restart")
        json["cluster"]["failures"]["checkpoint"] = {
            {"every", "2ms"}, {"write", "100us"}, {"read", "200us"}};
    const TemporaryFolder folder;
    try {
        return read_study(folder.write("scenario.json", json.dump()), {}).points.front().scenario;
    } catch (const ConfigError&) {
        return std::nullopt;
    }
}

Time time_without_deaths(Scenario scenario) {
    scenario.cluster.failures.reset();
    const Metrics run = run_point(scenario, nullptr);
    REQUIRE(run.outcome == "finished");
    return Time{from_seconds(run.sim_time_s)};
}

Duration up_to(Duration most, std::mt19937& random) {
    return Duration(static_cast<std::int64_t>(random() % 1'000'001U) * (most.count() / 1'000'000));
}

Duration one_of(const std::array<Duration, 3>& durations, std::mt19937& random) {
    return durations[random() % durations.size()];
}

enum class Returns : std::uint8_t { all, some, none };

// Lets each node die once, at `at` or within a step of it.
std::vector<std::vector<Absence>> deaths(int nodes, Time at, Returns returns,
                                         std::mt19937& random) {
    const Duration spread = one_of({0us, 30us, 1500us}, random);
    const Duration absence = one_of({20us, 1ms, 6ms}, random);
    std::vector<std::vector<Absence>> all;
    for (int node = 0; node < nodes; ++node) {
        const Time leaves = at + up_to(spread, random);
        const bool comes_back = returns == Returns::all ||
                                (returns == Returns::some && (node == 0 || random() % 2 == 0));
        all.push_back({{leaves, comes_back ? leaves + 1us + up_to(absence, random) : never}});
    }
    return all;
}

std::string text_of(const FailureChoice& failures) {
    std::string text = fmt::format("detection {}", to_string(failures.detection));
    for (const auto& absences : failures.schedule) {
        const Absence& one = absences.front();
        text += fmt::format("; from {}", to_string(one.leaves.time_since_epoch()));
        if (one.returns != never)
            text += fmt::format(" to {}", to_string(one.returns.time_since_epoch()));
    }
    return text;
}

// Where survivors go on, one node that returns takes all its steps. Otherwise all are needed. A run
// that cannot finish names a node that never returns.
void judge(const FailureChoice& failures, const Metrics& run) {
    const auto returns = [](const std::vector<Absence>& absences) {
        return absences.front().returns != never;
    };
    const auto& schedule = failures.schedule;
    const bool must_finish = failures.on_death == OnDeath::go_on
                                 ? std::ranges::any_of(schedule, returns)
                                 : std::ranges::all_of(schedule, returns);
    if (must_finish || run.outcome != "deadlock")
        CHECK(run.outcome == "finished");
    else
        CHECK(run.outcome_details.find("never returns") != std::string::npos);
}

// Lets all nodes die at some time in each part of the last six tenths of the run, and after its
// end.
int judge_phases(const Scenario& scenario, std::mt19937& random) {
    constexpr int phases = 10;
    const Duration end = time_without_deaths(scenario).time_since_epoch();
    for (int phase = 0; phase < phases; ++phase) {
        Scenario one = scenario;
        FailureChoice& failures = *one.cluster.failures;
        const Time at = Time{end * 4 / 10 + end * 65 * phase / (100 * phases)} +
                        up_to(end * 65 / (100 * phases), random);
        failures.detection = one_of({0us, 200us, 3ms}, random);
        failures.schedule =
            deaths(one.cluster.nodes, at, static_cast<Returns>(random() % 3), random);
        const Metrics run = run_point(one, nullptr, {300'000});
        CAPTURE(text_of(failures));
        CAPTURE(run.outcome_details);
        judge(failures, run);
    }
    return phases;
}

TEST_CASE("failures, property: a run whose nodes all die ends, and says truly how") {
    std::mt19937 random(1);
    int runs = 0;
    for (const Json& algorithm : algorithms())
        for (const std::string on_death : {"go-on", "stall", "restart"})
            for (int nodes = 2; nodes <= 5; ++nodes) {
                CAPTURE(algorithm.dump());
                CAPTURE(on_death);
                CAPTURE(nodes);
                const auto scenario = scenario_of(algorithm, on_death, nodes);
                if (scenario) runs += judge_phases(*scenario, random);
            }
    CHECK(runs > 3000);
}

// The node that returned when no step was left is needed once all others have died in the last.
TEST_CASE("failures: a node that returned too late for the last step takes it if all others die") {
    const Json osgp =
        Json::parse(R"({"kind": "osgp", "mixing": {"kind": "one-peer-exponential"}})");
    Scenario scenario = scenario_of(osgp, "go-on", 4).value();
    FailureChoice& failures = *scenario.cluster.failures;
    failures.detection = 200us;
    failures.schedule = {{{Time{4328us}, Time{4344us}}},
                         {{Time{4160us}, never}},
                         {{Time{4048us}, Time{4067us}}},
                         {{Time{4355us}, never}}};

    const Metrics run = run_point(scenario, nullptr);

    CHECK(run.outcome == "finished");
    CHECK(run.iterations >= 3);
}

}  // namespace
}  // namespace paceline::all_nodes_die_test
