#include "app/run/rated_part.hpp"

#include "app/run/step_costs.hpp"

namespace paceline {

namespace {

// Returns whether a run that ends by its number of steps ends whole periods of all workers.
bool ends_with_a_period(const Scenario& scenario) {
    if (scenario.algorithm.period == 1) return true;
    if (scenario.gradients_of_all()) return false;
    const std::optional<std::int64_t> steps = scenario.steps_of_each();
    return steps && whole_steps(scenario, *steps) == *steps;
}

// Metrics count gradients: n of them are an iteration, whatever steps computed them.
std::int64_t steps_of(const Scenario& scenario, double iterations) {
    return static_cast<std::int64_t>(iterations / scenario.algorithm.computing + 1e-6);
}

// The time of a collective is what a step takes besides computing, as nccl-tests have no computing.
void add_bandwidths(Metrics& metrics, const Scenario& scenario) {
    const AlgorithmChoice& algorithm = scenario.algorithm;
    if (!algorithm.bus_share || !metrics.exposed_comm_s || !(*metrics.exposed_comm_s > 0)) return;
    const Bytes size = algorithm.contribution(*scenario.workload.layout, 0, 0);
    metrics.algbw_gb_per_s = static_cast<double>(size.count) * 1e-9 / *metrics.exposed_comm_s;
    metrics.busbw_gb_per_s = *metrics.algbw_gb_per_s * algorithm.bus_share(metrics.devices);
}

}  // namespace

std::function<bool(std::int64_t)> periods_of(const Scenario& scenario) {
    if (scenario.algorithm.period == 1) return {};
    return [&scenario](std::int64_t k) { return whole_steps(scenario, k) == k; };
}

std::optional<Tally> rated_part(const Scenario& scenario, HowItEnded run, const StepMarks& marks,
                                const std::function<Tally()>& all) {
    const bool whole = run.nodes_fail || (run.finished && ends_with_a_period(scenario) &&
                                          !scenario.algorithm.ends_in_flight);
    std::optional<Tally> rated;
    if (!whole || scenario.skip > 0) rated = marks.at_periods();
    if (rated || scenario.skip > 0) return rated;
    if (!run.finished && !run.nodes_fail) return marks.at_steps();
    if (run.finished || marks.any_step()) return all();
    return std::nullopt;
}

RatedSteps rated_steps_of(const Scenario& scenario, const Metrics& metrics) {
    const std::int64_t first = skipped_steps(scenario);
    return {first, first + steps_of(scenario, metrics.rated_iterations)};
}

RunFacts facts_of(const Scenario& scenario) {
    const Workload& workload = scenario.workload;
    std::vector<double> batches;
    for (const std::int64_t batch : workload.batches)
        batches.push_back(static_cast<double>(batch) / static_cast<double>(*workload.batch));
    return {workload.step(),        workload.step_batch(),         workload.dataset,
            scenario.cluster.nodes, workload.charged_step_batch(), std::move(batches)};
}

void add_ratios(Metrics& metrics, const Scenario& scenario) {
    const RatedSteps rated = rated_steps_of(scenario, metrics);
    metrics.compression_ratio = compression_ratio(scenario, rated.first, rated.last);
    add_bandwidths(metrics, scenario);
}

}  // namespace paceline
