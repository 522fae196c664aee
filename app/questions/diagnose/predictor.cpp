#include "app/questions/diagnose/predictor.hpp"

#include <nlohmann/json.hpp>

#include "app/json/config_error.hpp"
#include "sim/numeric/elementary.hpp"

namespace paceline {

std::shared_ptr<const Json> scenario_with(const DiagnosedPoint& point, const Assumed& assumed) {
    if (assumed.causes.empty() && assumed.compute == 0) return point.scenario;
    Json scenario = *point.scenario;
    if (assumed.compute != 0)
        multiply_gradient_time(scenario, point, elementary::exp(assumed.compute));
    for (const auto& [cause, value] : assumed.causes) cause->put(scenario, value, point);
    return std::make_shared<const Json>(std::move(scenario));
}

std::vector<std::optional<double>> Predictor::logarithms(const std::vector<Asked>& asked) {
    std::vector<Candidate> candidates;
    for (const auto& [point, assumed] : asked) {
        try {
            candidates.push_back({read_resolved(*scenario_with(*point, assumed), scenario_), {}});
        } catch (const ConfigError& error) {
            candidates.push_back({std::nullopt, error.problem()});
        }
    }
    points_.run(candidates);
    std::vector<std::optional<double>> found;
    for (std::size_t i = 0; i < asked.size(); ++i) {
        const auto value = points_.column(asked[i].first->column, candidates[i]);
        found.push_back(value && *value > 0 ? std::optional(elementary::log(*value))
                                            : std::nullopt);
    }
    return found;
}

Candidate Predictor::in_whole_periods(const Json& json) const {
    try {
        return {read_whole_periods({scenario_.file, json.dump(), scenario_.sources}, {}, {}), {}};
    } catch (const ConfigError& error) {
        return {std::nullopt, error.problem()};
    }
}

}  // namespace paceline
