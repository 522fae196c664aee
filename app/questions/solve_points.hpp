// Queries of `paceline solve` to the simulator: a column of the scenario's result at values of the
// free quantity, and of the other scenario that it is compared with.
//
// Each point is run once. Points that are requested together run concurrently. Results are stored
// in a folder in the same way as those of `paceline run` (app/study/kept_points.hpp).
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "analysis/measures/crossings.hpp"
#include "app/questions/varied_quantity.hpp"
#include "app/scenario/study.hpp"
#include "app/study/run_pool.hpp"
#include "app/study/study_progress.hpp"

namespace paceline {

struct SolveOptions {
    PoolSize pool;
    Telling telling = Telling::nothing;
    std::optional<std::filesystem::path> keep_in{};
    std::stop_token stop{};
    std::function<void()> begins{};  // called before points run
};

/// A scenario whose column is evaluated.
struct Subject {
    Settings settings;
    Picks picks;
    bool varies = true;  // its free quantity takes the searched values
};

/// The search was stopped. Finished points are stored.
struct SearchStopped {};

/// One point: its scenario, or the reason why the scenario is refused.
struct Candidate {
    std::optional<Point> point;
    std::string refusal;
};

class SolvePoints {
  public:
    SolvePoints(ScenarioText scenario, VariedQuantity varied, SolveOptions options)
        : scenario_(std::move(scenario)),
          varied_(std::move(varied)),
          options_(std::move(options)) {}

    /// Returns the point of a subject with the varied quantity at this value. Throws ConfigError.
    Point read(const Subject& subject, double value);
    /// Does the same, but returns a refusal instead of throwing it.
    Candidate candidate(const Subject& subject, double value);

    /// Returns a column of each candidate. A value is missing if the column is empty, or the point
    /// was refused, failed or diverged. Throws SearchStopped, OutputError, and ConfigError if
    /// memory does not suffice.
    std::vector<std::optional<double>> column(const std::vector<Candidate>& candidates,
                                              std::string_view name);

    /// Returns why a candidate has no value; empty if it has one. Requires that column() was called
    /// for it.
    [[nodiscard]] std::string why_empty(const Candidate& candidate, std::string_view name) const;

    [[nodiscard]] std::size_t points() const { return results_.size(); }
    [[nodiscard]] std::size_t kept() const { return kept_; }

  private:
    void run(const Study& study);

    ScenarioText scenario_;
    VariedQuantity varied_;
    SolveOptions options_;
    std::map<std::string, Metrics> results_;  // by the point's JSON
    std::size_t kept_ = 0;                    // number of them from an earlier run
};

}  // namespace paceline
