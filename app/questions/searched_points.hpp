// The points that a search over one quantity asks for, and the column of those that were run.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "app/questions/asked_points.hpp"
#include "app/questions/varied_quantity.hpp"
#include "app/scenario/study.hpp"

namespace paceline {

/// A scenario whose column is evaluated.
struct Subject {
    Settings settings;
    Picks picks;
    bool varies = true;  // its free quantity takes the searched values
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

    void run(const std::vector<Candidate>& candidates) { asked_.run(candidates); }

    [[nodiscard]] std::optional<double> column(const Candidate& candidate) const {
        return asked_.column(column_, candidate);
    }
    [[nodiscard]] const Metrics* metrics(const Candidate& candidate) const {
        return asked_.metrics(candidate);
    }
    [[nodiscard]] std::string why_empty(const Candidate& candidate) const {
        return asked_.why_empty(column_, candidate);
    }

    [[nodiscard]] std::size_t size() const { return asked_.size(); }
    [[nodiscard]] std::size_t kept() const { return asked_.kept(); }

  private:
    const ScenarioText& scenario_;
    std::string column_;
    VariedQuantity varied_;
    AskedPoints asked_;
};

}  // namespace paceline
