#include "app/questions/calibrate/next_measurement.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/json/config_error.hpp"
#include "sim/numeric/elementary.hpp"

namespace paceline {

namespace {

constexpr double step = 1e-3;  // of the cube's side

struct Trial {
    std::string what;
    Json scenario;
    bool is_a_collective = false;
};

void add_collectives(const Json& base, int nodes, std::vector<Trial>& trials) {
    struct Shape {
        const char* operation;
        const char* words;
        int machines;
    };
    std::vector<Shape> shapes{{"send", "a message of {} to another machine", 2},
                              {"all-reduce", "an all-reduce of {} on {} nodes", 2}};
    if (nodes > 2) shapes.push_back({"all-reduce", "an all-reduce of {} on {} nodes", nodes});
    for (const Shape& shape : shapes)
        for (const std::int64_t bytes : {std::int64_t{8}, std::int64_t{64} << 10U,
                                         std::int64_t{4} << 20U, std::int64_t{256} << 20U}) {
            const std::string size = to_string(Bytes{bytes});
            trials.push_back({fmt::format(fmt::runtime(shape.words), size, shape.machines),
                              collective_scenario(base, {"", shape.operation, bytes, std::nullopt,
                                                         shape.machines, 1}),
                              true});
        }
}

void add_steps(const Json& base, int nodes, std::vector<Trial>& trials) {
    const auto algorithm = base.find("algorithm");
    if (algorithm == base.end() || !algorithm->is_object() ||
        algorithm->value("kind", "") == "collective" || base["cluster"].contains("devices"))
        return;
    for (const int count : std::set{1, 2, nodes}) {
        Json scenario = base;
        scenario["cluster"]["nodes"] = count;
        trials.push_back({fmt::format("the step on {} node{}", count, count == 1 ? "" : "s"),
                          std::move(scenario)});
    }
}

// Returns the points of a trial: at the fit, and with each constant moved both ways. Empty if one
// is refused.
std::vector<Candidate> candidates_of(const Trial& trial, const ScenarioText& text, const Fit& fit,
                                     const PutConstants& put) {
    std::vector<Candidate> all;
    try {
        const Point whole =
            read_whole_periods({text.file, trial.scenario.dump(), text.sources}, {}, {});
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
    std::vector<Trial> trials;
    add_collectives(base, nodes, trials);
    add_steps(base, nodes, trials);
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
