#include "app/run/ran_points.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace paceline {

namespace {

// A run that failed by an exception has no metrics of its other jobs.
std::vector<RanJob> jobs_of(const Scenario& scenario, const Metrics& metrics) {
    std::vector<RanJob> jobs{{scenario.job, scenario.algorithm.label}};
    const std::size_t others = std::min(scenario.other_jobs.size(), metrics.other_jobs.size());
    for (std::size_t i = 0; i < others; ++i)
        jobs.push_back({scenario.other_jobs[i].job, scenario.other_jobs[i].algorithm.label});
    return jobs;
}

}  // namespace

RanPoints::RanPoints(const Study& study, const std::vector<PointResult>& results)
    : title(study.title), axes(study.axes) {
    for (std::size_t i = 0; i < results.size(); ++i) {
        if (results[i].metrics.outcome.empty()) continue;
        const Point point = study.points[i];
        const Scenario& scenario = point.scenario;
        most_jobs = std::max(most_jobs, 1 + scenario.other_jobs.size());
        trains = trains || scenario.training.has_value();
        points.push_back({point.number, point.choice, jobs_of(scenario, results[i].metrics),
                          scenario.steps_per_epoch(), &results[i]});
    }
}

std::size_t RanPoints::axis(std::string_view path) const {
    const auto found = std::ranges::find(axes, path, &Axis::path);
    return found == axes.end() ? no_axis : static_cast<std::size_t>(found - axes.begin());
}

std::string description(const RanPoints& ran, const RanPoint& point,
                        std::span<const std::size_t> without) {
    std::string text;
    for (std::size_t i = 0; i < ran.axes.size(); ++i)
        if (std::ranges::find(without, i) == without.end())
            text += (text.empty() ? "" : "  ") + ran.axes[i].names[point.choice[i]];
    return text;
}

std::vector<Seeds> by_all_but_the_seed(const RanPoints& ran) {
    const std::size_t seed = ran.axis("seed");
    std::vector<Seeds> groups;
    std::map<std::vector<std::size_t>, std::size_t> known;
    for (const RanPoint& point : ran.points) {
        if (seed == no_axis) {
            groups.push_back({&point});
            continue;
        }
        std::vector<std::size_t> others = point.choice;
        others[seed] = 0;
        const auto [found, is_new] = known.emplace(std::move(others), groups.size());
        if (is_new) groups.emplace_back();
        groups[found->second].push_back(&point);
    }
    return groups;
}

OverSeeds over_seeds(const std::vector<double>& values) {
    if (values.empty()) return {};
    const auto n = static_cast<double>(values.size());
    double mean = 0;
    for (const double value : values) mean += value / n;
    double squares = 0;
    for (const double value : values) squares += (value - mean) * (value - mean);
    return {mean, values.size() < 2 ? std::nullopt : std::optional(std::sqrt(squares / (n - 1))),
            values.size()};
}

}  // namespace paceline
