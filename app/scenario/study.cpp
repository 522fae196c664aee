#include "app/scenario/study.hpp"

#include <memory>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "app/json/config_error.hpp"
#include "app/scenario/study_faults.hpp"
#include "app/scenario/study_plan.hpp"
#include "app/scenario/testbed.hpp"

namespace paceline {

namespace {

Json resolve(const StudyPlan& plan, const std::vector<std::size_t>& choice) {
    PlanFaults wrong;
    Json resolved = resolve_point(plan, choice, wrong);
    if (!wrong.faults.empty()) throw ConfigError(wrong.faults.front());
    return resolved;
}

Point make_point(const StudyPlan& plan, std::size_t number) {
    const std::vector<std::size_t> choice = plan.sweep.choice(number);
    Json resolved = resolve(plan, choice);
    Point point{choice, {}, {}, number};
    try {
        point.scenario = read_scenario(resolved, plan.file, plan.sources);
        point.resolved =
            resolved_text(on_its_testbed(std::move(resolved), plan.file, plan.sources));
    } catch (const ConfigError& error) {
        blame(error, plan, point.choice);
    }
    return point;
}

// Throws all faults of the study if the point has one.
Point read_point(const StudyPlan& plan, std::size_t number) {
    try {
        return make_point(plan, number);
    } catch (const ConfigError& first) {
        Refusal refusal(plan, {first});
        refusal.search(number, {});
        refusal.end();
    }
}

}  // namespace

Study read_study(const ScenarioText& scenario, const Settings& settings, const Picks& picks,
                 const SeePoint& see) {
    PlanFaults wrong;
    const auto plan =
        std::make_shared<const StudyPlan>(make_study_plan(scenario, settings, picks, wrong));
    refuse_if_wrong(*plan, wrong);
    Study study{scenario.file, plan->title, plan->sweep.shown_axes(), {}, scenario.sources};
    for (std::size_t number = 0; number < plan->points; ++number) {
        const Point point = read_point(*plan, number);
        if (see) see(point);
    }
    study.points = {
        plan->points, [plan](std::size_t number) { return make_point(*plan, number); },
        [plan](std::size_t number) {
            return resolved_text(on_its_testbed(resolve(*plan, plan->sweep.choice(number)),
                                                plan->file, plan->sources));
        },
        [plan](std::size_t number) { return Position{number, plan->sweep.choice(number)}; }};
    return study;
}

Point read_single_point(const ScenarioText& scenario, const Settings& settings,
                        const Picks& picks) {
    PlanFaults wrong;
    const StudyPlan plan = make_study_plan(scenario, settings, picks, wrong);
    refuse_if_wrong(plan, wrong);
    std::vector<std::string_view> axes;
    for (const SweptAxis& swept : plan.sweep.axes) axes.emplace_back(swept.axis.path);
    if (plan.points > 1)
        throw ConfigError(scenario.file, "sweep",
                          fmt::format("makes {} points and only one can be used; pick a value of "
                                      "each axis with --pick axis=label: {}",
                                      plan.points, fmt::join(axes, ", ")));
    return read_point(plan, 0);
}

std::vector<std::string> resolve_study(const ScenarioText& scenario, const Settings& settings) {
    PlanFaults wrong;
    const StudyPlan plan = make_study_plan(scenario, settings, {}, wrong);
    std::vector<std::string> points;
    for (std::size_t number = 0; wrong.faults.empty() && number < plan.points; ++number)
        points.push_back(resolved_text(on_its_testbed(
            resolve_point(plan, plan.sweep.choice(number), wrong), plan.file, plan.sources)));
    if (!wrong.faults.empty()) throw ConfigError(wrong.faults.front());
    return points;
}

}  // namespace paceline
