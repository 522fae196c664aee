#include "app/questions/solve_points.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/questions/what_if.hpp"
#include "app/run/memory_check.hpp"
#include "app/run/results.hpp"
#include "app/study/run_study.hpp"

namespace paceline {

namespace {

// Returns the "stop" of a point with this number of steps instead of its own.
std::string stop_after(std::int64_t steps, const Point& point) {
    Json stop = Json::parse(point.resolved)["stop"];
    for (const char* key : {"epochs", "samples"}) stop.erase(key);
    stop["iterations"] = steps;
    return stop.dump();
}

bool has_values(const Metrics& metrics) {
    return !metrics.failed() && metrics.outcome != "diverged" && !metrics.ended_before_a_step();
}

}  // namespace

Point SolvePoints::read(const Subject& subject, double value) {
    std::vector<std::string> settings = subject.settings;
    if (subject.varies) settings.push_back(varied_.setting(value));
    Point point = read_single_point(scenario_, settings, subject.picks);
    if (point.scenario.training || varied_.path.starts_with("stop")) return point;
    const std::optional<std::int64_t> steps = steps_to_end_period(point.scenario);
    if (!steps) return point;
    settings.push_back("stop=" + stop_after(*steps, point));
    return read_single_point(scenario_, settings, subject.picks);
}

Candidate SolvePoints::candidate(const Subject& subject, double value) {
    try {
        return {read(subject, value), {}};
    } catch (const ConfigError& error) {
        return {std::nullopt, error.problem()};
    }
}

void SolvePoints::run(const Study& study) {
    if (study.points.empty()) return;
    check_memory(study, static_cast<int>(options_.pool.loops));
    StudyOptions options;
    options.pool = options_.pool;
    options.telling = options_.telling;
    options.keep_in = options_.keep_in;
    options.resume = true;
    options.stop = options_.stop;
    options.begins = options_.begins;
    const StudyOutcome outcome = run_study(study, options);
    if (!outcome.complete) throw SearchStopped{};
    kept_ += outcome.kept;
    for (std::size_t i = 0; i < study.points.size(); ++i)
        results_.emplace(study.points[i].resolved, outcome.results[i].metrics);
}

std::vector<std::optional<double>> SolvePoints::column(const std::vector<Candidate>& candidates,
                                                       std::string_view name) {
    std::vector<Point> points;
    std::set<std::string> asked;
    for (const Candidate& candidate : candidates) {
        if (!candidate.point || results_.contains(candidate.point->resolved)) continue;
        if (!asked.insert(candidate.point->resolved).second) continue;
        points.push_back(*candidate.point);
        points.back().number = points.size() - 1;
    }
    run({scenario_.file, {}, {}, Points(std::move(points)), scenario_.sources});
    std::vector<std::optional<double>> values;
    for (const Candidate& candidate : candidates) {
        std::optional<double>& value = values.emplace_back();
        if (!candidate.point) continue;
        const Metrics& metrics = results_.at(candidate.point->resolved);
        if (has_values(metrics)) value = column_value(name, metrics);
    }
    return values;
}

std::string SolvePoints::why_empty(const Candidate& candidate, std::string_view name) const {
    if (!candidate.point) return "refused: " + candidate.refusal;
    const Metrics& metrics = results_.at(candidate.point->resolved);
    if (!has_values(metrics))
        return metrics.outcome +
               (metrics.outcome_details.empty() ? "" : ": " + metrics.outcome_details) +
               (metrics.ended_before_a_step() ? ", before a step was whole" : "");
    return column_value(name, metrics) ? "" : fmt::format("{} is empty", name);
}

}  // namespace paceline
