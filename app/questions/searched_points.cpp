#include "app/questions/searched_points.hpp"

#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/json/config_error.hpp"
#include "app/questions/what_if.hpp"
#include "app/run/memory_check.hpp"
#include "app/run/run_point.hpp"

namespace paceline {

namespace {

bool has_values(const Metrics& metrics) {
    return !metrics.failed() && metrics.outcome != "diverged" && !metrics.ended_before_a_step();
}

// Returns the "stop" of a point with this number of steps instead of its own.
std::string stop_after(std::int64_t steps, const Point& point) {
    Json stop = Json::parse(point.resolved)["stop"];
    for (const char* key : {"epochs", "samples"}) stop.erase(key);
    stop["iterations"] = steps;
    return stop.dump();
}

}  // namespace

Evaluated in_turn(const Study& study) {
    check_memory(study, 1);
    Evaluated evaluated;
    for (const Point& point : study.points)
        evaluated.results.push_back({run_point(point.scenario, nullptr), 0});
    return evaluated;
}

SearchedPoints::SearchedPoints(std::string column, const ScenarioText& scenario,
                               VariedQuantity varied, Evaluate evaluate)
    : scenario_(scenario),
      column_(std::move(column)),
      varied_(std::move(varied)),
      evaluate_(std::move(evaluate)) {}

Point SearchedPoints::read(const Subject& subject, double value) const {
    std::vector<std::string> settings = subject.settings;
    if (subject.varies) settings.push_back(varied_.setting(value));
    Point point = read_single_point(scenario_, settings, subject.picks);
    if (point.scenario.training || varied_.path.starts_with("stop")) return point;
    const std::optional<std::int64_t> steps = steps_to_end_period(point.scenario);
    if (!steps) return point;
    settings.push_back("stop=" + stop_after(*steps, point));
    return read_single_point(scenario_, settings, subject.picks);
}

Candidate SearchedPoints::candidate(const Subject& subject, double value) const {
    try {
        return {read(subject, value), {}};
    } catch (const ConfigError& error) {
        return {std::nullopt, error.problem()};
    }
}

void SearchedPoints::run(const std::vector<Candidate>& candidates) {
    std::vector<Point> points;
    std::set<std::string> asked;
    for (const Candidate& candidate : candidates) {
        if (!candidate.point || results_.contains(candidate.point->resolved)) continue;
        if (!asked.insert(candidate.point->resolved).second) continue;
        points.push_back(*candidate.point);
        points.back().number = points.size() - 1;
    }
    if (points.empty()) return;
    const Study study{scenario_.file, {}, {}, Points(std::move(points)), scenario_.sources};
    Evaluated evaluated = evaluate_(study);
    kept_ += evaluated.kept;
    for (std::size_t i = 0; i < study.points.size(); ++i)
        results_.emplace(study.points[i].resolved, std::move(evaluated.results[i].metrics));
}

std::optional<double> SearchedPoints::column(const Candidate& candidate) const {
    if (!candidate.point) return std::nullopt;
    const Metrics& metrics = results_.at(candidate.point->resolved);
    return has_values(metrics) ? column_value(column_, metrics) : std::nullopt;
}

const Metrics* SearchedPoints::metrics(const Candidate& candidate) const {
    return candidate.point ? &results_.at(candidate.point->resolved) : nullptr;
}

std::string SearchedPoints::why_empty(const Candidate& candidate) const {
    if (!candidate.point) return "refused: " + candidate.refusal;
    const Metrics& metrics = results_.at(candidate.point->resolved);
    if (!has_values(metrics))
        return metrics.outcome +
               (metrics.outcome_details.empty() ? "" : ": " + metrics.outcome_details) +
               (metrics.ended_before_a_step() ? ", before a step was whole" : "");
    return column_value(column_, metrics) ? "" : fmt::format("{} is empty", column_);
}

}  // namespace paceline
