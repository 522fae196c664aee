// The points that a search asks for, and the column of those that were run. Each is run once.
//
// A point whose last step falls into a period of its algorithm takes the other steps of that
// period, too, unless it trains or the steps are what is varied.
//
// How points are run is up to an evaluator: one after the other here, which needs no threads and no
// files, or as app/questions/solve_points.hpp does it.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/questions/varied_quantity.hpp"
#include "app/run/results.hpp"
#include "app/scenario/study.hpp"

namespace paceline {

struct Evaluated {
    std::vector<PointResult> results;  // one per point
    std::size_t kept = 0;              // number of them from an earlier run
};

/// Runs the points of a study, which are distinct and at least one. Throws ConfigError if memory
/// does not suffice.
using Evaluate = std::function<Evaluated(const Study& study)>;

/// Runs one point after the other, without baselines, and keeps nothing.
Evaluated in_turn(const Study& study);

/// A scenario whose column is evaluated.
struct Subject {
    Settings settings;
    Picks picks;
    bool varies = true;  // its free quantity takes the searched values
};

/// One point: its scenario, or the reason why the scenario is refused.
struct Candidate {
    std::optional<Point> point;
    std::string refusal;
};

class SearchedPoints {
  public:
    /// Requires that the scenario outlives it.
    SearchedPoints(std::string column, const ScenarioText& scenario, VariedQuantity varied,
                   Evaluate evaluate);

    /// Returns the point of a subject with the varied quantity at this value. Throws ConfigError.
    [[nodiscard]] Point read(const Subject& subject, double value) const;
    /// Does the same, but returns a refusal instead of throwing it.
    [[nodiscard]] Candidate candidate(const Subject& subject, double value) const;

    void run(const std::vector<Candidate>& candidates);

    /// Returns the column of a candidate that was run, if it has a value.
    [[nodiscard]] std::optional<double> column(const Candidate& candidate) const;
    /// Returns the result of a candidate that was run, or null if it was refused.
    [[nodiscard]] const Metrics* metrics(const Candidate& candidate) const;
    /// Returns why it has none; empty if it has one.
    [[nodiscard]] std::string why_empty(const Candidate& candidate) const;

    [[nodiscard]] std::size_t size() const { return results_.size(); }
    [[nodiscard]] std::size_t kept() const { return kept_; }

  private:
    const ScenarioText& scenario_;
    std::string column_;
    VariedQuantity varied_;
    Evaluate evaluate_;
    std::map<std::string, Metrics> results_;  // by the point's JSON
    std::size_t kept_ = 0;                    // number of them from an earlier run
};

}  // namespace paceline
