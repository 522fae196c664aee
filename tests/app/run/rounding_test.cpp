// Waits, exposed times and efficiencies come from whole picoseconds, in every shipped study.
#include <filesystem>
#include <string>

#include <doctest/doctest.h>

#include "app/run/run_point.hpp"
#include "app/study/study_file.hpp"

namespace paceline::rounding_test {
namespace {

namespace fs = std::filesystem;

// Returns whether a worker's nominal step is the least that any worker takes, and no time is lost.
bool is_even(const Scenario& scenario) {
    return !scenario.cluster.failures && scenario.other_jobs.empty();
}

void check(const Scenario& scenario, const Metrics& m) {
    for (const auto& share :
         {m.waiting_stragglers_share, m.waiting_network_share, m.waiting_dead_share, m.away_share,
          m.checkpoint_share, m.undone_share, m.exposed_comm_s, m.compute_s}) {
        if (!share) continue;
        CHECK(*share >= 0);
    }
    if (m.exposed_comm_s)
        CHECK(*m.exposed_comm_s ==
              doctest::Approx(*m.step_time_s - *m.compute_s).epsilon(1e-9).scale(*m.step_time_s));
    if (!m.speedup || !is_even(scenario)) return;
    if (!scenario.cluster.compute_time(scenario.seed)) CHECK(*m.efficiency <= 1);
    const bool alone = m.devices == 1 && *m.exposed_comm_s == 0 &&
                       *m.compute_s == to_seconds(scenario.workload.step());
    if (alone) CHECK(*m.speedup == 1);
}

// Studies on the clock alone whose points take milliseconds each.
TEST_CASE("rounding: no shipped timing study waits less than nothing or gains more than all") {
    int alone = 0;
    int points = 0;
    for (const auto& file : fs::directory_iterator(fs::path(PACELINE_SOURCE_DIR) / "scenarios")) {
        if (file.path().extension() != ".json" || file.path().stem() == "scenario.schema") continue;
        const Study study = read_study(file.path().string(), {});
        if (study.points[0].scenario.training) continue;
        CAPTURE(file.path().string());
        for (const Point& point : study.points) {
            if (point.scenario.cluster.workers > 32) continue;
            if (point.scenario.steps().value_or(1000) > 200) continue;
            CAPTURE(point.number);
            const Metrics m = run_point(point.scenario, nullptr);
            check(point.scenario, m);
            ++points;
            alone += m.devices == 1 && m.speedup == 1.0 ? 1 : 0;
        }
    }
    CHECK(points > 100);
    CHECK(alone > 5);
}

}  // namespace
}  // namespace paceline::rounding_test
