// What the simulator predicts for points that have causes in them.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/questions/asked_points.hpp"
#include "app/questions/diagnose/causes.hpp"

namespace paceline {

/// Causes with their values, and ln of the factor on the times of gradients.
struct Assumed {
    std::vector<std::pair<const Cause*, double>> causes{};
    double compute = 0;
};

/// Returns the scenario of a point with these causes.
std::shared_ptr<const Json> scenario_with(const DiagnosedPoint& point, const Assumed& assumed);

class Predictor {
  public:
    using Asked = std::pair<const DiagnosedPoint*, Assumed>;

    /// Requires that the scenario outlives it.
    Predictor(const ScenarioText& scenario, Evaluate evaluate)
        : scenario_(scenario), points_(scenario.file, scenario.sources, std::move(evaluate)) {}

    /// Returns ln of each point's column; nothing where a point is refused or has no value.
    std::vector<std::optional<double>> logarithms(const std::vector<Asked>& asked);

    /// Returns the candidate of a scenario that may end within a period.
    [[nodiscard]] Candidate in_whole_periods(const Json& json) const;
    AskedPoints& points() { return points_; }

  private:
    const Candidate& read(const Json& json);

    const ScenarioText& scenario_;
    std::map<std::string, Candidate> read_;  // by their JSON: many causes leave points as they are
    AskedPoints points_;
};

}  // namespace paceline
