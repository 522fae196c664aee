#include "app/run_point.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "sim/engine/processes.hpp"

namespace paceline {

namespace {

StepTiming step_timing(const Scenario& scenario) {
    const Workload& workload = scenario.workload;
    const AlgorithmChoice& algorithm = scenario.algorithm;
    if (!algorithm.bucket)
        return accumulated(make_step_timing(workload.gradient, *workload.layout),
                           workload.accumulation);
    const std::int64_t entries = algorithm.bucket->count / algorithm.wire.weigh(1).count;
    return accumulated(make_step_timing(workload.gradient, *workload.layout, workload.tensor_macs,
                                        std::max<std::int64_t>(entries, 1)),
                       workload.accumulation);
}

StepModelInput model_input(const Scenario& scenario, const IdleNetwork& network) {
    return {scenario.cluster.workers, network,
            step_timing(scenario),    scenario.workload.update,
            scenario.workload.layout, scenario.algorithm.wire};
}

Job make_job(const Scenario& scenario) {
    Job job{Vector(scenario.workload.layout)};
    job.timing = step_timing(scenario);
    job.update = scenario.workload.update;
    job.workers = scenario.cluster.workers;
    job.wire = scenario.algorithm.wire;
    job.seed = scenario.seed;
    job.steps_per_epoch = scenario.steps_per_epoch();
    const std::int64_t steps = scenario.steps().value_or(std::numeric_limits<std::int64_t>::max());
    if (scenario.algorithm.mixing)
        job.mixing = std::make_shared<const Mixing>(scenario.algorithm.mixing());
    job.takes_step = [steps](std::int64_t k) { return k < steps; };
    return job;
}

}  // namespace

namespace {

// Steps of one stage cost the same, and a stage is a run of consecutive steps: its end is found by
// bisection. Calls visit(first step, its epoch, number of steps) for each, until it says no.
template <class Visit>
void for_each_stage(const Scenario& scenario, std::int64_t steps, Visit visit) {
    const double per_epoch = scenario.steps_per_epoch();
    const auto epoch = [per_epoch](std::int64_t k) {
        return per_epoch > 0 ? static_cast<double>(k) / per_epoch : 0;
    };
    const auto stage = [&](std::int64_t k) { return scenario.algorithm.stage(k, epoch(k)); };
    for (std::int64_t begin = 0; begin < steps;) {
        const double here = stage(begin);
        std::int64_t last = begin;  // known to be of this stage
        std::int64_t beyond = steps;
        while (last + 1 < beyond) {
            const std::int64_t middle = last + (beyond - last) / 2;
            (stage(middle) == here ? last : beyond) = middle;
        }
        if (!visit(begin, epoch(begin), static_cast<double>(last + 1 - begin))) return;
        begin = last + 1;
    }
}

}  // namespace

std::optional<Duration> model_step_time(const Scenario& scenario, std::int64_t steps) {
    const std::optional<IdleNetwork> network = scenario.cluster.as_idle_network();
    if (!network || steps < 1) return std::nullopt;
    const StepModelInput in = model_input(scenario, *network);
    std::optional<double> total_s = 0;
    for_each_stage(scenario, steps, [&](std::int64_t first, double epoch, double count) {
        const std::optional<Duration> step = scenario.algorithm.model_step(in, first, epoch);
        if (!step || *step == Duration::max()) {
            total_s = std::nullopt;
            return false;
        }
        *total_s += count * to_seconds(*step);
        return true;
    });
    if (!total_s) return std::nullopt;
    return from_seconds(*total_s / static_cast<double>(steps));
}

std::optional<double> messages_of_run(const Scenario& scenario) {
    std::optional<std::int64_t> steps = scenario.steps();
    if (scenario.stop.time) {
        const auto step = model_step_time(scenario, 1);
        if (step && *step > Duration::zero())
            steps = std::min(steps.value_or(std::numeric_limits<std::int64_t>::max()),
                             *scenario.stop.time / *step + 1);
    }
    if (!steps) return std::nullopt;
    const StepModelInput in = model_input(scenario, {});  // messages do not depend on the wires
    double messages = 0;
    for_each_stage(scenario, *steps, [&](std::int64_t first, double /*epoch*/, double count) {
        messages += count * static_cast<double>(scenario.algorithm.messages(in, first));
        return true;
    });
    return messages;
}

Metrics run_point(const Scenario& scenario, Progress* progress) {
    Simulation simulation;
    simulation.report_to(progress);
    const ClusterChoice& choice = scenario.cluster;
    Network network(simulation, choice.make_fabric(scenario.algorithm.server_nodes, scenario.seed),
                    choice.transport());
    Cluster cluster(network, make_job(scenario));
    Processes processes(simulation);
    const char* const name = choice.bus ? "device" : "node";
    for (int rank = 0; rank < choice.workers; ++rank)
        processes.spawn(fmt::format("{} {}", name, rank),
                        scenario.algorithm.run(cluster.worker(rank)));

    const Time limit = scenario.stop.time ? Time{*scenario.stop.time} : never;
    const RunEnd end = simulation.run(limit);

    const Workload& workload = scenario.workload;
    Metrics metrics =
        measure(simulation, network, cluster, end, processes.finished(),
                {workload.step(), workload.step_batch(), workload.dataset, choice.nodes});
    const auto steps = static_cast<std::int64_t>(metrics.iterations);
    if (const auto model = model_step_time(scenario, steps))
        metrics.model_step_time_s = to_seconds(*model);
    const Bytes sent = scenario.algorithm.contribution(*workload.layout);
    metrics.compression_ratio = static_cast<double>(fp32.weigh(workload.layout->entries()).count) /
                                static_cast<double>(sent.count);
    return metrics;
}

}  // namespace paceline
