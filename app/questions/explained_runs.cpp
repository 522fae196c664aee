#include "app/questions/explained_runs.hpp"

#include <algorithm>
#include <utility>

#include "app/run/step_costs.hpp"
#include "app/run/what_if.hpp"

namespace paceline {

namespace {

// Returns as many steps as the message budget allows, in whole periods. A computation counts as one
// message.
std::int64_t affordable_steps(const Scenario& scenario, std::int64_t most_messages) {
    const std::int64_t period = scenario.algorithm.period;
    constexpr double most_explained_steps = 2000;
    const double of_a_step = messages_per_step(scenario) + scenario.cluster.workers;
    const double cost = has_core(scenario) ? 10 : 1;  // of a message, higher under contention
    const double exact =
        std::min(most_explained_steps, static_cast<double>(most_messages) / (cost * of_a_step));
    const auto steps = std::max<std::int64_t>(1, static_cast<std::int64_t>(exact));
    return std::max(period, steps / period * period);
}

// Returns the place of a host's job among the traffic's owners.
std::size_t traffic_owner(const Scenario& scenario, const HostRole& host) {
    return host.kind == HostRole::Kind::background ? scenario.other_jobs.size() + 1
                                                   : static_cast<std::size_t>(host.job);
}

// Throws ExplanationStopped.
Metrics run_or_stop(const Scenario& scenario, const ExplainOptions& options,
                    const Observer* observer = nullptr) {
    Metrics metrics = run_point(scenario, options.progress, options.spin, observer);
    if (options.progress != nullptr && options.progress->stop) throw ExplanationStopped{};
    return metrics;
}

}  // namespace

void one_after_another(std::size_t count, const std::function<void(std::size_t)>& body) {
    for (std::size_t i = 0; i < count; ++i) body(i);
}

Scenario as_explained(Scenario scenario) {
    scenario = on_the_clock_alone(std::move(scenario));
    scenario.alone = scenario.interval = false;
    if (const auto steps = steps_to_end_period(scenario)) {
        const std::optional<Duration> time = scenario.stop.time;
        scenario.stop = {};
        scenario.stop.iterations = steps;
        scenario.stop.time = time;
    }
    return scenario;
}

double messages_per_step(const Scenario& scenario) {
    constexpr std::int64_t most = 1000;
    Scenario probe = scenario;
    probe.stop = {};
    probe.stop.iterations = std::min(scenario.algorithm.period, most);
    double messages = messages_of_run(probe).value_or(0);
    for (const Scenario& job : scenario.other_jobs) messages += messages_per_step(job);
    return messages / static_cast<double>(*probe.stop.iterations);
}

RunExtent extent_of(const Scenario& scenario, const ExplainOptions& options) {
    const std::int64_t affordable = affordable_steps(scenario, options.most_messages);
    if (const auto steps = scenario.steps())
        return {std::min(*steps, affordable), scenario.stop.time};
    if (!has_unlike_nodes(scenario) && !has_unsteady_links(scenario)) return {affordable, {}};
    constexpr std::int64_t most_uneven = 8;
    const std::int64_t few = std::min(scenario.algorithm.period, affordable);
    const Metrics probe = run_or_stop(cut_to(scenario, {few, scenario.stop.time}), options);
    const double wanted_s = probe.step_time_s.value_or(0) * static_cast<double>(affordable);
    const double limit_s = to_seconds(*scenario.stop.time);
    return {most_uneven * affordable,
            wanted_s > 0 && wanted_s < limit_s ? from_seconds(wanted_s) : *scenario.stop.time};
}

Scenario cut_to(Scenario scenario, const RunExtent& extent) {
    const bool by_samples = scenario.gradients_of_all().has_value();
    scenario.stop = {};
    scenario.skip = 0;
    if (by_samples)
        scenario.stop.samples =
            extent.steps * *scenario.workload.samples_of_step(scenario.cluster.workers);
    else
        scenario.stop.iterations = extent.steps;
    scenario.stop.time = extent.time;
    return scenario;
}

std::vector<Metrics> run_explained(const std::vector<Scenario>& scenarios,
                                   const ExplainOptions& options) {
    std::vector<Metrics> results(scenarios.size());
    options.for_each(scenarios.size(),
                     [&](std::size_t i) { results[i] = run_or_stop(scenarios[i], options); });
    return results;
}

std::vector<std::string> traffic_owners(const Scenario& scenario) {
    if (!has_other_traffic(scenario)) return {};
    std::vector<std::string> owners{scenario.job};
    for (const Scenario& job : scenario.other_jobs) owners.push_back(job.job);
    if (!scenario.cluster.background.empty()) owners.emplace_back("background");
    return owners;
}

Metrics run_watched(const Scenario& scenario, const ExplainOptions& options, LinkUse& use) {
    const Simulation* simulation = nullptr;
    Observer observer;
    std::vector<std::size_t> owners;  // [host]
    observer.begins = [&](const Machine& machine) {
        simulation = &machine.simulation;
        for (const HostRole& host : machine.hosts) owners.push_back(traffic_owner(scenario, host));
    };
    observer.network.begins = [&](std::uint32_t id, const NetworkObserver::Message& message) {
        use.begins(id, message.route, message.since,
                   owners[static_cast<std::size_t>(message.from)]);
    };
    observer.network.drains = [&](std::uint32_t id, Bytes sent) {
        use.drains(id, sent, simulation->now());
    };
    // What is carried has no owner, so that several jobs are watched message by message.
    if (!has_other_traffic(scenario))
        observer.network.carries = [&](const Route& route, Bytes bytes, Duration busy) {
            use.carries(route, bytes, busy);
        };
    return run_or_stop(scenario, options, &observer);
}

}  // namespace paceline
