#include "app/questions/searched_points.hpp"

#include <utility>

#include "app/json/config_error.hpp"

namespace paceline {

SearchedPoints::SearchedPoints(std::string column, const ScenarioText& scenario,
                               VariedQuantity varied, Evaluate evaluate)
    : scenario_(scenario),
      column_(std::move(column)),
      varied_(std::move(varied)),
      asked_(scenario.file, scenario.sources, std::move(evaluate)) {}

Point SearchedPoints::read(const Subject& subject, double value) const {
    std::vector<std::string> settings = subject.settings;
    if (subject.varies) settings.push_back(varied_.setting(value));
    return read_whole_periods(scenario_, std::move(settings), subject.picks,
                              varied_.path.starts_with("stop"));
}

Candidate SearchedPoints::candidate(const Subject& subject, double value) const {
    try {
        return {read(subject, value), {}};
    } catch (const ConfigError& error) {
        return {std::nullopt, error.problem()};
    }
}

}  // namespace paceline
