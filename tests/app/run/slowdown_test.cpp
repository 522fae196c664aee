// The slowdown of a job against being alone on its network, held against closed forms of shared
// links and against points without the others.
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/measures/csv.hpp"
#include "app/json/json_file.hpp"
#include "app/questions/searched_points.hpp"
#include "app/run/results.hpp"
#include "app/run/run_point.hpp"
#include "tests/app/json/in_memory.hpp"

namespace paceline::slowdown_test {
namespace {

using doctest::Approx;

constexpr std::string_view star =
    R"({"kind": "star", "link": {"bandwidth": "1Gbps", "latency": "25us"}})";
constexpr std::string_view leaf_spine =
    R"({"kind": "leaf-spine", "hosts_per_leaf": 4, "spines": 2, "oversubscription": 4,
        "link": {"bandwidth": "1Gbps", "latency": "25us"}})";

// 10 ms of computing and 8 MB (64 ms at 1 Gbps), with `changes` applied.
Study study_of(const std::string& changes, std::string_view fabric = star) {
    Json json = Json::parse(fmt::format(
        R"({{"cluster": {{"nodes": 8, "fabric": {}}},
             "workload": {{"gradient": "8MB", "step_time": "10ms"}},
             "algorithm": {{"kind": "dense", "aggregation": {{"kind": "all-reduce", "plan": "ring"}}}},
             "stop": {{"iterations": 20}}, "measure": {{"alone": true}}}})",
        fabric));
    json.merge_patch(Json::parse(changes));
    return read_study({"s.json", json.dump(), in_memory({})}, {});
}

Metrics run(const std::string& changes, std::string_view fabric = star) {
    return run_point(study_of(changes, fabric).points.front().scenario, nullptr);
}

std::string jobs(const std::string& main, const std::string& other, const std::string& more = "") {
    return fmt::format(R"({{"cluster": {{"placement": {}}}, "other_jobs": [
        {{"label": "B", "nodes": {}, "workload": {{"gradient": "8MB", "step_time": "10ms"}},
          "algorithm": {{"kind": "dense", "aggregation": {{"kind": "all-reduce", "plan": "ring"}}}}
          {}}}]}})",
                       main, other, more);
}

// n workers on a ring; each message gets 1 / `slower` of 1 Gbps.
double ring_step(int n, double slower) {
    return 10e-3 + 2 * (n - 1) * (50e-6 + slower * 64e-3 / n);
}

TEST_CASE("slowdown: two equal jobs on the same nodes have half of the links while both send") {
    const Metrics m = run(jobs("\"all\"", "\"all\""));

    CHECK(m.slowdown.value() == Approx(ring_step(8, 2) / ring_step(8, 1)).epsilon(1e-9));
    CHECK(m.other_jobs.at(0).slowdown.value() == Approx(*m.slowdown).epsilon(1e-9));
}

TEST_CASE("slowdown: jobs that share no link are not slowed at all") {
    const Metrics m = run(jobs("\"even\"", "\"odd\""));

    CHECK(m.slowdown == 1.0);
    CHECK(m.other_jobs.at(0).slowdown.value() == Approx(1).epsilon(1e-12));
}

TEST_CASE("slowdown: background traffic slows as a link that two others fill does") {
    const Metrics m = run(R"({"cluster": {"background": [
        {"kind": "constant", "from": 0, "to": 3, "rate": "1Gbps", "message": "1GB"},
        {"kind": "constant", "from": 1, "to": 3, "rate": "1Gbps", "message": "1GB"}]}})");

    CHECK(m.slowdown.value() == Approx(ring_step(8, 3) / ring_step(8, 1)).epsilon(1e-3));
}

TEST_CASE("slowdown: a job that is alone has 1, and one that does not ask has none") {
    CHECK(run("{}").slowdown == 1.0);
    const Metrics unasked = run(R"({"measure": null})");
    CHECK_FALSE(unasked.slowdown);
    CHECK_FALSE(run(R"({"measure": {"alone": false}})").slowdown);
}

// The reduction: the main job's slowdown is that against a point without the other jobs, and the
// other job's is that of the same pair with the names swapped.
TEST_CASE(
    "slowdown, property: it is what points without the others say, and whoever is the main job") {
    for (int seed = 1; seed <= 6; ++seed) {
        CAPTURE(seed);
        const std::string with_seed = fmt::format(R"({{"seed": {}}})", seed);
        const auto metrics = [&](const std::string& changes) {
            Json json = Json::parse(changes);
            json.merge_patch(Json::parse(with_seed));
            return run(json.dump(), leaf_spine);
        };
        const Metrics both = metrics(jobs("[0, 4, 1, 5]", "[2, 6, 3, 7]"));
        const Metrics swapped = metrics(jobs("[2, 6, 3, 7]", "[0, 4, 1, 5]"));
        Json alone = Json::parse(jobs("[0, 4, 1, 5]", "[2, 6, 3, 7]"));
        alone["other_jobs"] = Json::array();
        const Metrics main = metrics(alone.dump());

        CHECK(both.slowdown.value() == Approx(*both.step_time_s / *main.step_time_s).epsilon(1e-9));
        CHECK(both.slowdown.value() >= 1);
        if (both.step_time_s.value() == Approx(*swapped.other_jobs.at(0).step_time_s).epsilon(1e-9))
            CHECK(swapped.other_jobs.at(0).slowdown.value() ==
                  Approx(*both.slowdown).epsilon(1e-4));
    }
}

TEST_CASE("slowdown: asking for it changes nothing else, and adds one column") {
    const auto table = [](const std::string& more) {
        Json json = Json::parse(jobs("\"all\"", "[0, 1, 2]"));
        json.merge_patch(Json::parse(more));
        const Study study = study_of(json.dump());
        return csv_rows(results_csv(RanPoints(study, in_turn(study).results)));
    };
    auto asked = table("{}");
    const auto unasked = table(R"({"measure": {"alone": false}})");

    REQUIRE(asked.size() == 3);
    CHECK(asked.front().back() == "slowdown");
    for (auto& row : asked) row.pop_back();
    CHECK(asked == unasked);
}

TEST_CASE("slowdown: a job that ends earlier is alone for its own steps, and slows for those") {
    const Metrics m = run(jobs("\"all\"", "\"all\"", R"(, "stop": {"iterations": 5})"));
    CHECK(m.other_jobs.at(0).slowdown.value() ==
          Approx(ring_step(8, 2) / ring_step(8, 1)).epsilon(1e-9));
    const double mean = (5 * ring_step(8, 2) + 15 * ring_step(8, 1)) / 20;
    CHECK(m.slowdown.value() == Approx(mean / ring_step(8, 1)).epsilon(1e-6));
}

}  // namespace
}  // namespace paceline::slowdown_test
