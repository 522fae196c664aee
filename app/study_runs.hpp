// Everything that a study may run, numbered alike in every process that has read it: its points, and
// behind them the baselines of their speedups to target (app/baseline.hpp), one for all points that
// share it.
#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "app/point_key.hpp"
#include "app/results.hpp"
#include "app/study.hpp"

namespace paceline {

class StudyRuns {
  public:
    /// Requires that the study outlives this.
    explicit StudyRuns(const Study& study);

    [[nodiscard]] const Study& study() const { return study_; }
    [[nodiscard]] std::size_t points() const { return study_.points.size(); }
    [[nodiscard]] std::size_t size() const { return points() + baselines_.size(); }
    [[nodiscard]] const Scenario& scenario(std::size_t run) const;
    /// Names what decides its result. Called by several threads.
    [[nodiscard]] std::string key(std::size_t run) const;

    /// The baselines that the results of points ask for, in the order of their numbers.
    [[nodiscard]] std::vector<std::size_t> baselines_for(
        const std::vector<PointResult>& results) const;
    /// Fills in speedup_to_target of points whose baseline was run. `results` are of all runs.
    void add_speedups_to_target(std::vector<PointResult>& results) const;

  private:
    struct Baseline {
        Scenario scenario;
        std::string resolved;  // what it was made of
    };

    const Study& study_;
    mutable std::mutex mutex_;
    mutable PointKeys keys_;
    std::vector<Baseline> baselines_;
    std::vector<std::optional<std::size_t>> baseline_of_;  // [point]: a run
};

}  // namespace paceline
