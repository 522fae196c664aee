#include "app/study/study_runs.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "app/run/running_time.hpp"
#include "app/study/baseline.hpp"

namespace paceline {

namespace {

bool reached_target(const PointResult& result) {
    return result.metrics.time_to_target_s.value_or(0) > 0;
}

}  // namespace

StudyRuns::StudyRuns(const Study& study) : study_(study), keys_(study.file) {
    const auto expect = [this](const Scenario& scenario) {
        expected_.push_back({expected_seconds(scenario), may_end_earlier(scenario)});
    };
    std::map<std::string, std::size_t> known;
    for (const Point& point : study.points) {
        expect(point.scenario);
        std::optional<std::size_t>& run = baseline_of_.emplace_back();
        if (!asks_for_baseline(point.scenario)) continue;
        std::string what = baseline_key(point);
        const auto [found, is_new] = known.try_emplace(std::move(what), size());
        if (is_new) baselines_.push_back({baseline_of(point.scenario), found->first});
        run = found->second;
    }
    for (const Baseline& baseline : baselines_) expect(baseline.scenario);
}

Scenario StudyRuns::scenario(std::size_t run) const {
    const std::scoped_lock lock(mutex_);
    return run < points() ? study_.points[run].scenario : baselines_[run - points()].scenario;
}

std::string StudyRuns::key(std::size_t run) const {
    const std::scoped_lock lock(mutex_);
    return run < points() ? keys_.key(study_.points.resolved(run))
                          : keys_.key(baselines_[run - points()].resolved, "baseline");
}

std::vector<std::size_t> StudyRuns::baselines_for(const std::vector<PointResult>& results) const {
    std::set<std::size_t> needed;
    for (std::size_t i = 0; i < points(); ++i)
        if (baseline_of_[i] && reached_target(results[i])) needed.insert(*baseline_of_[i]);
    return {needed.begin(), needed.end()};
}

void StudyRuns::add_speedups_to_target(std::vector<PointResult>& results) const {
    for (std::size_t i = 0; i < points(); ++i) {
        if (!baseline_of_[i] || !reached_target(results[i])) continue;
        Metrics& metrics = results[i].metrics;
        if (const auto time = results[*baseline_of_[i]].metrics.time_to_target_s)
            metrics.speedup_to_target = *time / *metrics.time_to_target_s;
    }
}

}  // namespace paceline
