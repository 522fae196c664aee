#include "app/run/intervals.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "app/run/step_costs.hpp"
#include "app/run/what_if.hpp"
#include "sim/numeric/elementary.hpp"

namespace paceline {

namespace {

constexpr std::int64_t most_probed_steps = 32;  // and up to the end of a period
const Duration unstated_message_cost = from_seconds(250e-6);
constexpr Bandwidth unstated_flow_rate{5'000'000'000};

// Returns the scenario as it is run for its times alone, for so many steps.
Scenario probe_of(const Scenario& scenario, double iterations) {
    Scenario probe = on_the_clock_alone(scenario);
    probe.interval = probe.alone = probe.spread = false;
    probe.draws.clear();
    const auto taken = static_cast<std::int64_t>(std::ceil(std::max(1.0, iterations)));
    const std::int64_t steps =
        steps_to_whole(probe, std::min(taken, probe.skip + most_probed_steps));
    probe.stop = {};
    probe.stop.iterations = std::max(steps, probe.skip + 1);
    return probe;
}

// Returns how much longer a step takes, as a logarithm; nothing if one of the two has no time.
std::optional<double> log_ratio(const Metrics& changed, const Metrics& reference) {
    if (!changed.step_time_s || *changed.step_time_s <= 0) return std::nullopt;
    return elementary::log(*changed.step_time_s / *reference.step_time_s);
}

double hidden_share(const Metrics& reference, const Metrics& free) {
    const double step = *reference.step_time_s;
    const double communication = free.step_time_s.value_or(0);
    return std::max(0.0, (reference.compute_s.value_or(0) + communication - step) / step);
}

}  // namespace

std::string_view why_unlike_all(const Scenario& scenario) {
    if (scenario.cluster.failures) return "its nodes fail";
    if (has_other_traffic(scenario)) return "it shares its network";
    if (!scenario.cluster.access.empty()) return "its links change over time";
    if (scenario.algorithm.runs_freely || scenario.algorithm.serve)
        return "its workers do not wait for each other";
    if (has_network(scenario) && has_core(scenario))
        return "its machines share links in the core of the network";
    return {};
}

std::optional<TimeInterval> time_interval(const Scenario& scenario, const Metrics& metrics,
                                          const std::function<Metrics(const Scenario&)>& run) {
    if (!metrics.step_time_s || *metrics.step_time_s <= 0) return std::nullopt;
    if (!has_network(scenario)) return TimeInterval{};
    const Scenario probe = probe_of(scenario, metrics.iterations);
    const bool is_itself = !scenario.training && metrics.outcome == "finished" &&
                           static_cast<double>(*probe.stop.iterations) == metrics.iterations;
    const Metrics reference = is_itself ? metrics : run(probe);
    if (!reference.step_time_s || *reference.step_time_s <= 0) return std::nullopt;

    std::vector<double> drawn;
    for (const Scenario& draw : scenario.draws)
        if (const auto x = log_ratio(run(probe_of(draw, metrics.iterations)), reference))
            drawn.push_back(*x);
    const Constants constants = scenario.draws.empty() ? Constants::stated : Constants::fitted;
    if (!why_unlike_all(scenario).empty())
        return interval_of(unlike_all, constants, std::move(drawn));

    Circumstances at;
    at.exposed = std::max(0.0, reference.exposed_comm_s.value_or(0) / *reference.step_time_s);
    at.collective_alone = metrics.algbw_gb_per_s.has_value();
    at.hidden = hidden_share(reference, run(with_compute_times(probe, 0)));
    if (constants == Constants::stated && scenario.cluster.tcp) {
        for (const Scenario& changed : {with_message_cost(probe, unstated_message_cost),
                                        with_flow_rate(probe, unstated_flow_rate)})
            at.unstated += std::max(0.0, log_ratio(run(changed), reference).value_or(0));
        at.unstated = std::min(at.unstated, most_unstated);
    }
    return interval_of(at, constants, std::move(drawn));
}

}  // namespace paceline
