#include "app/questions/diagnose/predictor.hpp"

#include <utility>

#include <nlohmann/json.hpp>

#include "app/json/config_error.hpp"
#include "app/scenario/study_plan.hpp"
#include "sim/numeric/elementary.hpp"

namespace paceline {

namespace {

// Times are all that is asked about, and without their intervals.
void leave_times(Scenario& scenario) {
    scenario.training.reset();
    scenario.interval = false;
    scenario.draws.clear();
}

}  // namespace

std::shared_ptr<const Json> scenario_with(const DiagnosedPoint& point, const Assumed& assumed) {
    if (assumed.causes.empty() && assumed.compute == 0) return point.scenario;
    Json scenario = *point.scenario;
    if (assumed.compute != 0)
        multiply_gradient_time(scenario, point, elementary::exp(assumed.compute));
    for (const auto& [cause, value] : assumed.causes) cause->put(scenario, value, point);
    return std::make_shared<const Json>(std::move(scenario));
}

const Candidate& Predictor::read(const Json& json) {
    const auto [found, is_new] = read_.try_emplace(resolved_text(json));
    if (!is_new) return found->second;
    try {
        found->second.point =
            Point{{}, found->first, read_scenario(json, scenario_.file, scenario_.sources)};
        leave_times(found->second.point->scenario);
    } catch (const ConfigError& error) {
        found->second.refusal = error.problem();
    }
    return found->second;
}

std::vector<std::optional<double>> Predictor::logarithms(const std::vector<Asked>& asked) {
    std::vector<const Candidate*> read_as;
    std::vector<Candidate> candidates;
    for (const auto& [point, assumed] : asked) {
        const std::size_t known = read_.size();
        read_as.push_back(&read(*scenario_with(*point, assumed)));
        if (read_.size() > known) candidates.push_back(*read_as.back());
    }
    points_.run(candidates);
    std::vector<std::optional<double>> found;
    for (std::size_t i = 0; i < asked.size(); ++i) {
        const auto value = points_.column(asked[i].first->column, *read_as[i]);
        found.push_back(value && *value > 0 ? std::optional(elementary::log(*value))
                                            : std::nullopt);
    }
    return found;
}

Candidate Predictor::in_whole_periods(const Json& json) const {
    try {
        Point point = read_whole_periods({scenario_.file, json.dump(), scenario_.sources}, {}, {});
        leave_times(point.scenario);
        return {std::move(point), {}};
    } catch (const ConfigError& error) {
        return {std::nullopt, error.problem()};
    }
}

}  // namespace paceline
