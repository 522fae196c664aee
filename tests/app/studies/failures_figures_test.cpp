// Compares runs with failures and checkpoints with closed forms, and the table of docs/failures.md
// with scenarios/failures.json.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "app/run/run_point.hpp"
#include "app/scenario/study.hpp"
#include "app/study/study_file.hpp"
#include "tests/app/host/temporary_folder.hpp"
#include "tests/app/studies/checkpoint_models.hpp"
#include "tests/app/studies/docs_table.hpp"

namespace paceline::failures_figures_test {
namespace {

using doctest::Approx;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

const std::string source = PACELINE_SOURCE_DIR;

std::string page() {
    return content(std::filesystem::path(source) / "docs" / "failures.md");
}

// --- one study of checkpoints: steps of a minute, and almost no messages ---

struct Checkpointed {
    TemporaryFolder folder;
    std::string file = folder.write("checkpointed.json", R"({
        "cluster": {"nodes": 1, "fabric": {"kind": "star", "link": {"bandwidth": "100Gbps"}},
                    "failures": {"mean_between": "1h", "mean_repair": "5min", "detection": "0s",
                                 "on_death": "restart",
                                 "checkpoint": {"every": "6min", "write": "30s", "read": "20s"}}},
        "workload": {"gradient": "4B", "step_time": "1min"},
        "algorithm": {"kind": "dense", "all_reduce": "tree"},
        "stop": {"iterations": 600}})");

    [[nodiscard]] Metrics run(const std::vector<std::string>& settings) const {
        return run_point(read_study(file, settings).points.front().scenario, nullptr);
    }
};

struct Sample {
    double mean = 0;
    double standard_error = 0;
};

Sample sample_of(const std::vector<double>& values) {
    const auto n = static_cast<double>(values.size());
    Sample sample;
    for (const double v : values) sample.mean += v / n;
    double squares = 0;
    for (const double v : values) squares += (v - sample.mean) * (v - sample.mean);
    sample.standard_error = std::sqrt(squares / (n - 1) / n);
    return sample;
}

TEST_CASE("checkpoints: a run takes the expected time of its segments, one node or several") {
    const Checkpointed study;
    constexpr int segments = 100;
    for (const int n : {1, 4, 8}) {
        CAPTURE(n);
        std::vector<double> times;
        for (int seed = 1; seed <= 30; ++seed)
            times.push_back(study
                                .run({fmt::format("cluster.nodes={}", n),
                                      fmt::format("cluster.failures.mean_between={}h", n),
                                      fmt::format("seed={}", seed)})
                                .sim_time_s);
        const CheckpointedRun run{n, hours(n), minutes(5), seconds(30), seconds(20)};
        // The last segment is not checkpointed.
        CheckpointedRun last = run;
        last.write = {};
        const double expected = (segments - 1) * expected_segment_s(run, minutes(6)) +
                                expected_segment_s(last, minutes(6));
        const Sample sample = sample_of(times);

        CHECK(std::abs(sample.mean - expected) < 4 * sample.standard_error);
        CHECK(sample.standard_error < 0.02 * expected);
    }
}

TEST_CASE("checkpoints: without failures a segment takes its work and the writing") {
    const CheckpointedRun run{1, hours(2500), minutes(0), seconds(30), seconds(30)};
    CHECK(expected_segment_s(run, minutes(5)) == Approx(330).epsilon(1e-4));
}

TEST_CASE("checkpoints: one node that is back at once takes M (e^(w/M) - 1)") {
    const CheckpointedRun run{1, seconds(1000), seconds(0), seconds(100), seconds(0)};
    CHECK(expected_segment_s(run, seconds(400)) == Approx(1000 * std::expm1(0.5)).epsilon(1e-12));
}

TEST_CASE("checkpoints, property: intervals beside the best one waste more") {
    for (const int n : {1, 16, 256})
        for (const int write : {1, 30, 300}) {
            CAPTURE(n);
            CAPTURE(write);
            const CheckpointedRun run{n, hours(64), minutes(5), seconds(write), seconds(30)};
            const Duration best = best_interval(run);
            for (const int percent : {25, 50, 90, 99, 101, 110, 200, 400})
                CHECK(useful_share(run, best * percent / 100) < useful_share(run, best));
        }
}

TEST_CASE(
    "checkpoints: Young's and Daly's intervals waste at most 1 % of the run more than the best") {
    for (const int n : {1, 16, 64, 256})
        for (const int mean_hours : {4, 16, 64}) {
            CAPTURE(n);
            CAPTURE(mean_hours);
            const CheckpointedRun run{n, hours(mean_hours), minutes(5), seconds(30), seconds(30)};
            const double best = useful_share(run, best_interval(run));

            CHECK(useful_share(run, young_interval(run)) > best - 0.01);
            CHECK(useful_share(run, daly_interval(run)) > best - 0.001);
        }
}

TEST_CASE(
    "checkpoints: Daly's interval tends to Young's, less the writing, as failures become rare") {
    const CheckpointedRun run{1, hours(1000), minutes(5), seconds(1), seconds(0)};
    const double young = to_seconds(young_interval(run));
    CHECK(young == Approx(std::sqrt(2 * 3.6e6)).epsilon(1e-12));
    CHECK(to_seconds(daly_interval(run)) == Approx(young - 1 + 1.0 / 3).epsilon(1e-6));
}

// The deaths do not depend on the interval: nodes fail by their own clocks.
TEST_CASE(
    "checkpoints: the run at Young's interval wastes at most 1 % more than at the best found") {
    const Checkpointed study;
    // sqrt(2 x 30 s x 1 h) = 465 s, in whole steps
    const CheckpointedRun run{16, hours(16), minutes(5), seconds(30), seconds(20)};
    const int young_steps = static_cast<int>(std::lround(to_seconds(young_interval(run)) / 60));
    REQUIRE(young_steps == 8);
    std::map<int, double> useful;
    double deaths = 0;
    for (const int steps : {2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 20, 24, 32}) {
        const Metrics m = study.run(
            {"cluster.nodes=16", "cluster.failures.mean_between=16h", "stop={\"time\": \"400h\"}",
             fmt::format("cluster.failures.checkpoint.every={}min", steps)});
        useful[steps] = m.efficiency.value();
        if (deaths > 0) CHECK(m.deaths == deaths);
        deaths = m.deaths.value();
    }
    double best = 0;
    for (const auto& [steps, share] : useful) best = std::max(best, share);

    CHECK(useful[young_steps] > best - 0.01);
    CHECK(useful[2] < best - 0.05);
    CHECK(useful[32] < best - 0.05);
    const std::vector<double> told = row_of(page(), "simulated");
    const std::vector<int> of_steps{2, 4, 6, 7, 8, 9, 10, 12, 16, 32};
    REQUIRE(told.size() == of_steps.size());
    for (std::size_t i = 0; i < told.size(); ++i)
        CHECK(std::abs(told[i] - useful[of_steps[i]]) < 0.00051);
    // About 400 deaths: the standard deviation of a death's cost is as large as its mean.
    for (const auto& [steps, share] : useful) {
        CAPTURE(steps);
        CHECK(std::abs(share - useful_share(run, minutes(steps))) <
              4 * (1 - share) / std::sqrt(400));
    }
}

// --- the shipped study ---

struct Row {
    Metrics metrics;
    int nodes = 0;
    Duration mean_between{};
    std::optional<Duration> every;  // set if all nodes restart
};

// Keyed by the labels of the cluster and the algorithm.
using Rows = std::map<std::pair<std::string, std::string>, Row>;

// With sanitizers, the largest clusters would take minutes.
#if __has_feature(address_sanitizer)
constexpr int most_nodes = 64;
#else
constexpr int most_nodes = 256;
#endif

const Rows& rows() {
    static const Rows all = [] {
        const Study study = read_study(source + "/scenarios/failures.json", {});
        Rows made;
        for (const Point& point : study.points) {
            if (point.scenario.cluster.nodes > most_nodes) continue;
            const FailureChoice& failures = point.scenario.cluster.failures.value();
            Row row{run_point(point.scenario, nullptr), point.scenario.cluster.nodes,
                    failures.mean_between.value(), std::nullopt};
            if (failures.checkpoints) row.every = failures.checkpoints->every;
            made[{study.axes[0].names[point.choice[0]], point.scenario.algorithm.label}] =
                std::move(row);
        }
        return made;
    }();
    return all;
}

const char* const all_reduce = "all-reduce SGD";
const char* const dsgd = "DSGD, ring";
constexpr double repair_s = 300;

// One case, so that the study runs only once.
TEST_CASE("failures, figures: the shipped study agrees with its closed forms and its page") {
    SUBCASE("checkpoints are Young's intervals, to a step") {
        for (const auto& [names, row] : rows()) {
            CAPTURE(names.first);
            if (!row.every) continue;
            const CheckpointedRun run{row.nodes, row.mean_between, minutes(5), seconds(30),
                                      seconds(30)};
            CHECK(std::abs(to_seconds(*row.every - young_interval(run))) < 31);
        }
    }

    SUBCASE("what restarts leave is what the closed form says") {
        for (const auto& [names, row] : rows()) {
            CAPTURE(names.first);
            CAPTURE(names.second);
            if (!row.every) continue;
            const CheckpointedRun run{row.nodes, row.mean_between, minutes(5), seconds(30),
                                      seconds(30)};
            const double share = row.metrics.efficiency.value();
            const double restarts = 48 * 3600.0 / to_seconds(row.mean_between) * row.nodes * share;

            CHECK(std::abs(share - useful_share(run, *row.every)) <
                  4 * (1 - share) / std::sqrt(std::max(restarts, 1.0)));
        }
    }

    SUBCASE("nodes are away as long as repairs take") {
        for (const auto& [names, row] : rows()) {
            CAPTURE(names.first);
            CAPTURE(names.second);
            const double mean_s = to_seconds(row.mean_between);
            const double deaths = row.metrics.deaths.value();
            const double expected = repair_s / (mean_s + repair_s);
            // For nodes that go on: a returning node waits for the next step, a minute at most.
            const double joining = row.every ? 0 : 60 / mean_s;

            CHECK(row.metrics.away_share.value() <
                  expected * (1 + 6 / std::sqrt(deaths)) + joining);
            CHECK(row.metrics.away_share.value() > expected * (1 - 6 / std::sqrt(deaths)));
        }
    }

    SUBCASE("shares of the time sum to 1, but for what deaths cut short") {
        for (const auto& [names, row] : rows()) {
            CAPTURE(names.first);
            CAPTURE(names.second);
            const Metrics& m = row.metrics;
            const double others = *m.away_share + *m.checkpoint_share + *m.waiting_dead_share +
                                  *m.waiting_stragglers_share + *m.waiting_network_share;
            const double done = *m.efficiency / (1 - *m.undone_share);
            // Work cut short by a death or the end of the run: at most a gradient and a checkpoint,
            // of every node if all restart, otherwise of the dead.
            const double cuts = 1 + *m.deaths / (row.every ? 1 : row.nodes);

            CHECK(others + done < 1 + 1e-9);
            CHECK(others + done > 1 - cuts * 90 / (48 * 3600.0));
        }
    }

    SUBCASE("those who go on lose what the dead would have done, and little more") {
        for (const auto& [names, row] : rows()) {
            CAPTURE(names.first);
            CAPTURE(names.second);
            if (row.every) continue;
            const double share = row.metrics.efficiency.value();
            const double deaths_each = row.metrics.deaths.value() / row.nodes;
            CHECK(share + row.metrics.away_share.value() > 0.98);
            CHECK(share + row.metrics.away_share.value() < 1 + deaths_each / (48 * 60));
            CHECK(share > 0.95);
        }
    }

    SUBCASE("restarts lose more the more nodes there are") {
        for (const char* mean : {"64h", "16h", "4h"}) {
            double before = 1;
            for (const int n : {16, 64, 256}) {
                if (n > most_nodes) continue;
                const double share =
                    rows()
                        .at({fmt::format("{} nodes, {}, restart", n, mean), all_reduce})
                        .metrics.efficiency.value();
                CHECK(share < before);
                before = share;
            }
        }
    }

    SUBCASE("docs/failures.md says what the simulation does") {
        for (const char* mean : {"64h", "16h", "4h"})
            for (const int n : {16, 64, 256}) {
                if (n > most_nodes) continue;
                const std::string cluster = fmt::format("{} nodes, {}", n, mean);
                CAPTURE(cluster);
                const std::vector<double> cells = row_of(page(), cluster);
                REQUIRE(cells.size() == 5);
                const auto per_hour = [&](const char* policy, const char* algorithm) {
                    return 60 * rows().at({cluster + policy, algorithm}).metrics.efficiency.value();
                };
                const Row& restart = rows().at({cluster + ", restart", all_reduce});
                const CheckpointedRun run{n, restart.mean_between, minutes(5), seconds(30),
                                          seconds(30)};
                CHECK(std::abs(cells[0] - to_seconds(*restart.every) / 60) < 1e-9);
                CHECK(std::abs(cells[1] - per_hour(", restart", all_reduce)) < 0.051);
                CHECK(std::abs(cells[2] - 60 * useful_share(run, *restart.every)) < 0.051);
                CHECK(std::abs(cells[3] - per_hour(", go on", all_reduce)) < 0.051);
                CHECK(std::abs(cells[4] - per_hour(", go on", dsgd)) < 0.051);
            }
    }
}

}  // namespace
}  // namespace paceline::failures_figures_test
