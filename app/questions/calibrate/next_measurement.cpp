#include "app/questions/calibrate/next_measurement.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/json/config_error.hpp"
#include "sim/numeric/elementary.hpp"

namespace paceline {

namespace {

constexpr double step = 1e-3;  // of the cube's side

// Returns the points of a trial: at the fit, and with each constant moved both ways. Empty if one
// is refused.
std::vector<Candidate> candidates_of(const Trial& trial, const ScenarioText& text, const Fit& fit,
                                     const PutConstants& put) {
    std::vector<Candidate> all;
    try {
        const Point whole =
            read_whole_periods({text.file, trial.scenario->dump(), text.sources}, {}, {});
        const Json resolved = Json::parse(whole.resolved);
        const auto add = [&](const Eigen::VectorXd& place) {
            Json scenario = resolved;
            put(scenario, place, trial.is_a_collective);
            all.push_back({read_resolved(scenario, text), {}});
        };
        add(fit.at);
        for (Eigen::Index j = 0; j < fit.at.size(); ++j)
            for (const double way : {-step, step}) {
                Eigen::VectorXd place = fit.at;
                place[j] = std::clamp(place[j] + way, 0.0, 1.0);
                add(place);
            }
    } catch (const ConfigError&) {
        return {};
    }
    return all;
}

double half_width_with(const PossibleMeasurement& one, const WeakDirection& direction,
                       double rise) {
    double along = 0;
    for (Eigen::Index j = 0; j < one.slopes.size(); ++j)
        along += one.slopes[j] * direction.along[j];
    const double before = rise / (direction.half_width * direction.half_width);  // sigma^2
    return std::sqrt(rise / (before + along * along));
}

}  // namespace

std::vector<PossibleMeasurement> possible_measurements(const CalibrationQuestion& question,
                                                       const Json& base, const Fit& fit,
                                                       const PutConstants& put,
                                                       AskedPoints& points) {
    const int nodes = base["cluster"].value("nodes", 2);
    std::vector<Trial> trials = collective_trials(base, nodes);
    std::ranges::move(step_trials(base, nodes), std::back_inserter(trials));
    std::vector<std::vector<Candidate>> candidates;
    std::vector<Candidate> together;
    for (const Trial& trial : trials) {
        candidates.push_back(candidates_of(trial, question.scenario, fit, put));
        together.insert(together.end(), candidates.back().begin(), candidates.back().end());
    }
    points.run(together);
    std::vector<PossibleMeasurement> possible;
    for (std::size_t i = 0; i < trials.size(); ++i) {
        std::vector<double> seconds;
        for (const Candidate& candidate : candidates[i])
            if (const auto value = points.column("step_time_s", candidate); value && *value > 0)
                seconds.push_back(*value);
        if (seconds.empty() || seconds.size() != candidates[i].size()) continue;
        PossibleMeasurement& one = possible.emplace_back();
        const int devices = candidates[i].front().point->scenario.cluster.workers;
        one.measurement = {trials[i].what, seconds.front(), seconds.front() * devices};
        one.slopes.resize(fit.at.size());
        for (Eigen::Index j = 0; j < fit.at.size(); ++j) {
            const auto below = static_cast<std::size_t>(1 + 2 * j);
            const double way = std::min(1.0, fit.at[j] + step) - std::max(0.0, fit.at[j] - step);
            one.slopes[j] = elementary::log(seconds[below + 1] / seconds[below]) / way;
        }
    }
    return possible;
}

std::optional<NextMeasurement> cheapest_that_tells(const std::vector<PossibleMeasurement>& possible,
                                                   const WeakDirection& direction, double rise) {
    std::optional<NextMeasurement> cheapest;
    for (const PossibleMeasurement& one : possible) {
        if (half_width_with(one, direction, rise) > weak_from) continue;
        if (!cheapest || one.measurement.device_seconds < cheapest->device_seconds)
            cheapest = one.measurement;
    }
    return cheapest;
}

}  // namespace paceline
