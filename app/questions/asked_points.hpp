// Points that a question asks for: each is run once, and its columns can be read.
//
// A point whose last step falls into a period of its algorithm takes the other steps of that
// period, too, unless it trains or what is asked about is when to stop.
//
// How points are run is up to an evaluator: one after the other here, which needs no threads and no
// files, or as app/questions/solve_points.hpp does it.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

/// Returns the one point of a scenario with these changes, with whole periods. Throws ConfigError.
Point read_whole_periods(const ScenarioText& scenario, Settings settings, const Picks& picks,
                         bool stop_is_asked_about = false);

/// Returns the point that this JSON is, as Point::resolved has it. Throws ConfigError.
Point read_resolved(const Json& resolved, const ScenarioText& scenario);

/// One point: its scenario, or the reason why the scenario is refused.
struct Candidate {
    std::optional<Point> point;
    std::string refusal;
};

class AskedPoints {
  public:
    AskedPoints(std::string file, Sources sources, Evaluate evaluate);

    void run(const std::vector<Candidate>& candidates);

    /// Returns the result of a candidate that was run, or null if it was refused.
    [[nodiscard]] const Metrics* metrics(const Candidate& candidate) const;
    /// Returns the column of a candidate that was run, if it has a value.
    [[nodiscard]] std::optional<double> column(std::string_view name,
                                               const Candidate& candidate) const;
    /// Returns why it has none; empty if it has one.
    [[nodiscard]] std::string why_empty(std::string_view name, const Candidate& candidate) const;

    [[nodiscard]] std::size_t size() const { return results_.size(); }
    [[nodiscard]] std::size_t kept() const { return kept_; }

  private:
    std::string file_;
    Sources sources_;
    Evaluate evaluate_;
    std::map<std::string, Metrics> results_;  // by the point's JSON
    std::size_t kept_ = 0;                    // number of them from an earlier run
};

}  // namespace paceline
