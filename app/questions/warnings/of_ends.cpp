#include "app/questions/warnings/of_ends.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "app/run/step_costs.hpp"

namespace paceline {

namespace {

// Returns the closed form of a mean step, or at least what a step computes if nodes are alike.
double least_step_s(const Scenario& scenario, std::int64_t steps) {
    if (scenario.cluster.compute_time(scenario.seed) != nullptr) return 0;  // some may be faster
    const double computed = to_seconds(scenario.workload.step()) * scenario.algorithm.computing;
    const std::optional<Duration> model = model_step_time(scenario, steps);
    return model ? std::max(computed, to_seconds(*model)) : computed;
}

bool has_target(const Scenario& scenario) {
    return scenario.training &&
           (scenario.training->stop.given() || scenario.training->measurement.target.given());
}

}  // namespace

std::string beyond_the_clock(const Scenario& scenario) {
    const std::optional<std::int64_t> steps = scenario.steps();
    constexpr std::int64_t few = 10'000;  // beyond the clock only if a step takes a quarter hour
    if (!steps || *steps < few || scenario.stop.time) return "";
    const double step_s = least_step_s(scenario, *steps);
    const double end_s = to_seconds(never.time_since_epoch());
    if (static_cast<double>(*steps) * step_s <= end_s) return "";
    return fmt::format(
        "{} steps of about {:.3g} s are beyond the 106 days that the clock can tell; the run would "
        "end as \"out-of-range\"; take {:.3g} steps or fewer, or set \"stop.time\"",
        *steps, step_s, end_s / step_s);
}

std::string no_whole_step(const Scenario& scenario) {
    if (!scenario.stop.time) return "";
    const double step_s = least_step_s(scenario, 1);
    if (step_s <= to_seconds(*scenario.stop.time)) return "";
    return fmt::format(
        "\"stop.time\", {}, is over before its first step, of about {:.3g} s; no rate would be "
        "that of a whole step",
        to_string(*scenario.stop.time), step_s);
}

std::string time_stands_still(const Scenario& scenario) {
    if (scenario.steps() || !scenario.stop.time) return "";
    if (scenario.workload.step() > Duration::zero()) return "";
    const std::optional<Duration> model = model_step_time(scenario, 1);
    if (!model || *model > Duration::zero()) return "";
    return "its steps take no time and only \"stop.time\" ends the run, which would end as "
           "\"spinning\"; give \"iterations\"";
}

std::string default_evaluations(const Scenario& scenario) {
    if (!has_target(scenario) || scenario.training->measurement.every_is_given) return "";
    return fmt::format(
        "there is a target and no \"measure.every\"; it is judged after every epoch, the default, "
        "which is {} iterations",
        scenario.training->measurement.cadence(scenario.steps_per_epoch()).iterations);
}

std::string late_evaluations(const Scenario& scenario) {
    if (!has_target(scenario)) return "";
    const Cadence every = scenario.training->measurement.cadence(scenario.steps_per_epoch());
    const std::optional<std::int64_t> steps = scenario.steps();
    const bool by_steps = every.iterations > 0 && steps && every.iterations >= *steps;
    const bool by_time =
        every.time > Duration::zero() && scenario.stop.time && every.time >= *scenario.stop.time;
    if (!by_steps && !by_time) return "";
    return "its target is judged at the start and at the end alone; evaluate more often with "
           "\"measure.every\"";
}

std::string equal_steps(const Scenario& scenario) {
    if (!scenario.algorithm.runs_freely || !scenario.steps_of_each()) return "";
    if (scenario.cluster.compute_time(scenario.seed) == nullptr) return "";  // nodes are alike
    return "stops after equally many steps of each worker, so fast workers wait for slow ones at "
           "the end; stop at \"samples\" to let them go on";
}

}  // namespace paceline
