// No rate is told of a run in which no step was whole, whatever the algorithm and whatever ended
// it.
#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "app/run/run_point.hpp"
#include "app/scenario/algorithms/algorithms.hpp"
#include "app/study/study_file.hpp"
#include "tests/app/host/temporary_folder.hpp"

namespace paceline::no_whole_step_test {
namespace {

// Every algorithm, small enough for a few hundred runs.
const Study& all_algorithms() {
    static const Study study =
        read_study(std::string(PACELINE_SOURCE_DIR) + "/tests/fingerprints/algorithms.json", {});
    return study;
}

// What the workers have done, as they report it themselves.
struct Steps {
    std::vector<std::pair<int, std::int64_t>> begun;
    int ended = 0;

    // A worker that begins its second step, or that takes no more, has a whole one.
    [[nodiscard]] bool any_whole() const {
        return ended > 0 ||
               std::ranges::any_of(begun, [](const auto& step) { return step.second > 0; });
    }
};

struct Ran {
    Metrics metrics;
    Steps steps;
};

Ran run(Scenario scenario) {
    Ran ran;
    Observer observer;
    observer.workers.step_begins = [&](int host, std::int64_t step) {
        ran.steps.begun.emplace_back(host, step);
    };
    observer.workers.steps_end = [&](int) { ++ran.steps.ended; };
    ran.metrics = run_point(scenario, nullptr, {}, &observer);
    return ran;
}

Ran run_for(const Scenario& base, Duration time) {
    Scenario scenario = base;
    scenario.stop.time = time;
    return run(std::move(scenario));
}

bool has_rates(const Metrics& m) {
    return m.step_time_s || m.compute_s || m.exposed_comm_s || m.model_step_time_s ||
           m.bytes_sent_per_node_per_step || m.bytes_received_per_node_per_step ||
           m.compression_ratio || m.samples_per_s || m.epoch_time_s || m.speedup || m.efficiency;
}

TEST_CASE("no whole step, property: every algorithm has no rate before its first whole step") {
    std::set<std::string> kinds;
    int cut = 0;
    for (const Point& point : all_algorithms().points) {
        CAPTURE(point.scenario.algorithm.label);
        const Duration step = point.scenario.workload.step();
        for (const Duration time : {Duration{1}, step / 2, step + Duration{1}, step + step / 50}) {
            CAPTURE(time.count());
            const auto [m, steps] = run_for(point.scenario, time);

            if (m.outcome != "time-limit") continue;
            if (steps.any_whole()) continue;
            ++cut;
            CHECK_FALSE(has_rates(m));
            CHECK(m.ended_before_a_step());
        }
    }
    CHECK(cut > 100);
}

TEST_CASE("no whole step: a run of many whole steps that a limit cuts has the rate of these") {
    for (const Point& point : all_algorithms().points) {
        CAPTURE(point.scenario.algorithm.label);
        const auto [whole, all] = run(point.scenario);
        if (whole.outcome != "finished" || whole.iterations < 2) continue;
        const auto [m, steps] = run_for(point.scenario, from_seconds(0.7 * whole.sim_time_s));

        CHECK(m.step_time_s.has_value() == steps.any_whole());
    }
}

// Two nodes that exchange 1 MB.
Metrics run_two(const std::vector<std::string>& settings) {
    const TemporaryFolder folder;
    const std::string file = folder.write("two.json", R"({
        "cluster": {"nodes": 2, "fabric": {"kind": "star", "link": {"bandwidth": "1Gbps"}}},
        "workload": {"gradient": "1MB", "step_time": "1s"},
        "algorithm": {"kind": "dense"}, "stop": {"iterations": 5}})");
    return run_point(read_study(file, settings).points.front().scenario, nullptr);
}

TEST_CASE("no whole step: a clock that runs out of range in the first exchange leaves no rate") {
    const Metrics m = run_two({"cluster.fabric.link.bandwidth=1bps", "workload.gradient=4MB"});
    CHECK(m.outcome == "out-of-range");
    CHECK_FALSE(has_rates(m));
    CHECK(m.iterations == 1);
}

TEST_CASE("no whole step: a clock that runs out of range later leaves the rate of whole steps") {
    const Metrics m = run_two({"workload.step_time=30d"});
    CHECK(m.outcome == "out-of-range");
    CHECK(m.step_time_s.value() == doctest::Approx(30 * 86400.0 + 0.008).epsilon(1e-9));
    CHECK(m.rated_iterations == 3);
}

TEST_CASE("no whole step: a node that dies for good in the first step leaves no rate") {
    const Metrics m = run_two(
        {R"(cluster.failures={"schedule": [{"node": 0, "at": "1.004s"}], "on_death": "stall"})"});
    CAPTURE(m.outcome);
    CHECK(m.outcome != "finished");
    CHECK_FALSE(has_rates(m));
}

// Worker 1 takes 10 s for a gradient, and worker 0 a hundredth of that.
TEST_CASE("no whole step: where one worker has none, the whole steps of others count") {
    const TemporaryFolder folder;
    const std::string file = folder.write("late.json", R"({
        "cluster": {"nodes": 2, "fabric": {"kind": "star", "link": {"bandwidth": "1Gbps"}},
                    "stragglers": {"nodes": [1], "factor": 100}},
        "workload": {"gradient": "1MB", "step_time": "100ms"},
        "algorithm": {"kind": "ps-async"}, "stop": {"time": "5s"}})");
    const auto [m, steps] = run(read_study(file, {}).points.front().scenario);
    const auto [worker, whole] =
        *std::ranges::max_element(steps.begun, {}, [](const auto& begun) { return begun.second; });

    CHECK(worker == 0);
    CHECK(whole > 20);
    CHECK(m.speedup.value() == doctest::Approx(static_cast<double>(whole) * 0.1 / 5));
}

}  // namespace
}  // namespace paceline::no_whole_step_test
