#include "app/questions/asked_points.hpp"

#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/run/memory_check.hpp"
#include "app/run/run_point.hpp"
#include "app/run/what_if.hpp"
#include "app/scenario/study_plan.hpp"

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

Point read_whole_periods(const ScenarioText& scenario, Settings settings, const Picks& picks,
                         bool stop_is_asked_about) {
    Point point = read_single_point(scenario, settings, picks);
    if (point.scenario.training || stop_is_asked_about) return point;
    const std::optional<std::int64_t> steps = steps_to_end_period(point.scenario);
    if (!steps) return point;
    settings.push_back("stop=" + stop_after(*steps, point));
    return read_single_point(scenario, settings, picks);
}

Point read_resolved(const Json& resolved, const ScenarioText& scenario) {
    return {{}, resolved_text(resolved), read_scenario(resolved, scenario.file, scenario.sources)};
}

AskedPoints::AskedPoints(std::string file, Sources sources, Evaluate evaluate)
    : file_(std::move(file)), sources_(std::move(sources)), evaluate_(std::move(evaluate)) {}

void AskedPoints::run(const std::vector<Candidate>& candidates) {
    std::vector<Point> points;
    std::set<std::string> asked;
    for (const Candidate& candidate : candidates) {
        if (!candidate.point || results_.contains(candidate.point->resolved)) continue;
        if (!asked.insert(candidate.point->resolved).second) continue;
        points.push_back(*candidate.point);
        points.back().number = points.size() - 1;
    }
    if (points.empty()) return;
    const Study study{file_, {}, {}, Points(std::move(points)), sources_};
    Evaluated evaluated = evaluate_(study);
    kept_ += evaluated.kept;
    for (std::size_t i = 0; i < study.points.size(); ++i)
        results_.emplace(study.points.resolved(i), std::move(evaluated.results[i].metrics));
}

const Metrics* AskedPoints::metrics(const Candidate& candidate) const {
    return candidate.point ? &results_.at(candidate.point->resolved) : nullptr;
}

std::optional<double> AskedPoints::column(std::string_view name, const Candidate& candidate) const {
    const Metrics* const found = metrics(candidate);
    return found != nullptr && has_values(*found) ? column_value(name, *found) : std::nullopt;
}

std::string AskedPoints::why_empty(std::string_view name, const Candidate& candidate) const {
    const Metrics* const found = metrics(candidate);
    if (found == nullptr) return "refused: " + candidate.refusal;
    if (!has_values(*found))
        return found->outcome +
               (found->outcome_details.empty() ? "" : ": " + found->outcome_details) +
               (found->ended_before_a_step() ? ", before a step was complete" : "");
    return column_value(name, *found) ? "" : fmt::format("{} is empty", name);
}

}  // namespace paceline
