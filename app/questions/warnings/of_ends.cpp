#include "app/questions/warnings/of_ends.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "app/run/step_costs.hpp"
#include "sim/numeric/elementary.hpp"

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
        "{} steps of about {:.3g} s exceed the 106 days that the clock can represent; the run "
        "would end as \"out-of-range\"; use {:.3g} steps or fewer, or set \"stop.time\"",
        *steps, step_s, end_s / step_s);
}

std::string no_whole_step(const Scenario& scenario) {
    if (!scenario.stop.time) return "";
    const double step_s = least_step_s(scenario, 1);
    if (step_s <= to_seconds(*scenario.stop.time)) return "";
    return fmt::format(
        "\"stop.time\", {}, ends the run before its first step, of about {:.3g} s; no rate would "
        "cover a whole step",
        to_string(*scenario.stop.time), step_s);
}

namespace {

// What the nodes need to come further: a time without a death, of so many nodes that may die, and
// perhaps all of them present.
struct Need {
    double seconds = 0;
    double nodes = 0;
    bool all_present = false;
    std::string_view of;
};

std::optional<Need> need_of(const Scenario& scenario, const FailureChoice& failures) {
    const double step_s = least_step_s(scenario, 1);
    const double failing = failures.nodes ? static_cast<double>(failures.nodes->size())
                                          : static_cast<double>(scenario.cluster.nodes);
    const double detection_s = to_seconds(failures.detection);
    if (failures.on_death == OnDeath::restart) {
        double rest_s = std::numeric_limits<double>::infinity();
        if (const auto steps = scenario.steps()) rest_s = static_cast<double>(*steps) * step_s;
        double read_s = 0;
        if (const auto& checkpoints = failures.checkpoints) {
            const double begun_s = std::max(to_seconds(checkpoints->every), step_s);
            rest_s = std::min(rest_s, begun_s + to_seconds(checkpoints->write));
            read_s = to_seconds(checkpoints->read);
        }
        if (!std::isfinite(rest_s)) return std::nullopt;
        return Need{detection_s + read_s + rest_s, failing, true,
                    failures.checkpoints ? "a checkpoint" : "the run"};
    }
    if (failures.on_death == OnDeath::stall) return Need{step_s, failing, true, "a step"};
    const WhenNodesDie then = scenario.algorithm.when_nodes_die;
    if (then == WhenNodesDie::reruns_replicas || then == WhenNodesDie::reruns_models)
        return Need{detection_s + step_s, failing, false, "a step"};
    return Need{step_s, std::min(failing, 1.0), false, "a step"};
}

}  // namespace

std::string vain_failures(const Scenario& scenario) {
    const auto& failures = scenario.cluster.failures;
    if (!failures || !failures->mean_between) return "";
    const std::optional<Need> need = need_of(scenario, *failures);
    if (!need || need->nodes == 0) return "";
    const double present_s = to_seconds(*failures->mean_between);
    const double away_s = to_seconds(failures->mean_repair);
    const double share = present_s / (present_s + away_s);
    // Where only those that are present matter, they are fewer.
    const double nodes = need->all_present ? need->nodes : std::max(1.0, need->nodes * share);
    const double between_s = present_s / nodes;
    const double log_tries =
        need->seconds / between_s - (need->all_present ? need->nodes * elementary::log(share) : 0);
    constexpr double few = 4.6;  // a hundred tries
    if (log_tries < few) return "";
    return fmt::format(
        "a node fails every {:.3g} s, and {} needs {:.3g} s without a failure{}, which happens "
        "once in about {:.1g} tries; the run would end as \"no-progress\" after {} failures "
        "without progress",
        between_s, need->of, need->seconds, need->all_present ? ", all nodes present" : "",
        elementary::exp(std::min(log_tries, 700.0)), most_deaths_in_vain);
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
        "there is a target and no \"measure.every\"; by default, it is evaluated after every "
        "epoch, which is {} iterations",
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
    return "its target is evaluated only at the start and at the end; evaluate more often with "
           "\"measure.every\"";
}

std::string equal_steps(const Scenario& scenario) {
    if (!scenario.algorithm.runs_freely || !scenario.steps_of_each()) return "";
    if (scenario.cluster.compute_time(scenario.seed) == nullptr) return "";  // nodes are alike
    return "stops after the same number of steps of each worker, so fast workers wait for slow "
           "ones at the end; stop at \"samples\" to let them continue";
}

}  // namespace paceline
