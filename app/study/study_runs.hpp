// All runs of a study, numbered identically in every process that has read it: first its points,
// then the baselines of their speedups to target (app/study/baseline.hpp), one for all points that
// share it.
#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "app/run/results.hpp"
#include "app/scenario/study.hpp"
#include "app/study/point_key.hpp"

namespace paceline {

class StudyRuns {
  public:
    /// Requires that the study outlives this.
    explicit StudyRuns(const Study& study);

    [[nodiscard]] const Study& study() const { return study_; }
    [[nodiscard]] std::size_t points() const { return study_.points.size(); }
    [[nodiscard]] std::size_t size() const { return points() + baselines_.size(); }
    /// What is expected of a run (app/run/running_time.hpp).
    struct Expected {
        std::optional<double> seconds;
        bool may_end_earlier;
    };
    [[nodiscard]] const Expected& expected(std::size_t run) const { return expected_[run]; }
    /// Reads the scenario of a run. Thread-safe.
    [[nodiscard]] Scenario scenario(std::size_t run) const;
    /// Returns the key of everything that determines the run's result. Thread-safe.
    [[nodiscard]] std::string key(std::size_t run) const;

    /// Returns the baselines that the results of points ask for, in increasing order.
    [[nodiscard]] std::vector<std::size_t> baselines_for(
        const std::vector<PointResult>& results) const;
    /// Fills in speedup_to_target for points whose baseline was run. `results` holds all runs.
    void add_speedups_to_target(std::vector<PointResult>& results) const;

  private:
    struct Baseline {
        Scenario scenario;
        std::string resolved;  // the baseline_key() of its points
    };

    const Study& study_;
    mutable std::mutex mutex_;
    mutable PointKeys keys_;
    std::vector<Baseline> baselines_;
    std::vector<Expected> expected_;                       // [run]
    std::vector<std::optional<std::size_t>> baseline_of_;  // [point]: number of its run
};

}  // namespace paceline
