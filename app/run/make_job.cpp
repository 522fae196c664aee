#include "app/run/make_job.hpp"

#include <limits>
#include <utility>

#include "app/run/step_costs.hpp"
#include "sim/engine/levels.hpp"

namespace paceline {

namespace {

Shards shards_of(const Scenario& scenario) {
    return scenario.training->data.deal(scenario.cluster.workers, RandomStreams(scenario.seed));
}

// Returns the samples of each worker's step; empty if they are alike.
std::vector<int> batches_of(const Scenario& scenario) {
    std::vector<int> batches;
    for (const std::int64_t batch : scenario.workload.batches)
        batches.push_back(static_cast<int>(batch * scenario.workload.accumulation));
    return batches;
}

// Returns the factor on the loss of each worker, 1 in the mean; empty if it is 1 for all.
std::vector<double> weights_of(const Scenario& scenario) {
    const Workload& workload = scenario.workload;
    if (workload.batches.empty() || !workload.weighs_samples) return {};
    const int workers = scenario.cluster.workers;
    const double mean =
        static_cast<double>(*workload.samples_of_step(workers)) / workload.accumulation / workers;
    std::vector<double> weights;
    for (const std::int64_t batch : workload.batches)
        weights.push_back(static_cast<double>(batch) / mean);
    return weights;
}

// Returns the devices of each machine.
std::vector<std::vector<int>> machines_of(const Scenario& scenario) {
    const ClusterChoice& cluster = scenario.cluster;
    return groups_of_devices(*cluster.levels().find(machine_level), cluster.sizes, cluster.workers);
}

}  // namespace

Job make_job(const Scenario& scenario) {
    Job job{Vector(scenario.workload.layout)};
    job.timing = step_timing(scenario);
    job.update = scenario.workload.update;
    job.workers = scenario.cluster.workers;
    int& servers = scenario.algorithm.serve ? job.servers : job.collective_servers;
    servers = scenario.algorithm.server_nodes;
    job.wire = scenario.algorithm.wire;
    job.library = scenario.cluster.library;
    job.seed = scenario.seed;
    job.compute_time = scenario.cluster.compute_time(scenario.seed);
    job.steps_per_epoch = scenario.steps_per_epoch();
    const std::int64_t steps =
        scenario.steps_of_each().value_or(std::numeric_limits<std::int64_t>::max());
    job.gradients = scenario.gradients_of_all();
    job.steps_are_counted = scenario.steps().has_value();
    if (scenario.algorithm.mixing.make) job.mixing = scenario.algorithm.mixing.make(scenario.seed);
    if (const auto& failures = scenario.cluster.failures)
        job.failures =
            make_failures(*failures, scenario.algorithm, machines_of(scenario), scenario.seed);
    job.takes_step = [steps](std::int64_t k) { return k < steps; };
    return job;
}

std::unique_ptr<Problem> make_problem(const Scenario& scenario) {
    const Training& training = *scenario.training;
    ProblemOptions options;
    options.shards = shards_of(scenario);
    options.batch = static_cast<int>(*scenario.workload.step_batch());
    options.batches = batches_of(scenario);
    options.weights = weights_of(scenario);
    options.sampling = training.sampling;
    options.weight_decay =
        scenario.algorithm.decays_by_itself ? 0 : training.optimizer.weight_decay;
    options.most_scored = training.measurement.samples;
    options.seed = scenario.seed;
    return training.model.problem(training.data.set(), std::move(options));
}

std::unique_ptr<TrainingLog> make_log(const Scenario& scenario, Simulation& simulation,
                                      Network& network, Problem& problem,
                                      const Observer* observer) {
    TrainingLogOptions options;
    const Training& training = *scenario.training;
    options.cadence = training.measurement.cadence(scenario.steps_per_epoch());
    options.measured = training.recorded_target();
    options.stop = training.stop;
    options.steps = scenario.steps_of_each();
    options.nodes = scenario.cluster.nodes;
    if (training.model.minimum)
        options.minimum =
            training.model.minimum(*training.data.set(), shards_of(scenario),
                                   training.optimizer.weight_decay, weights_of(scenario));
    if (observer != nullptr) options.evaluated = observer->evaluated;
    return std::make_unique<TrainingLog>(simulation, network, problem, options);
}

void make_it_train(Job& job, const Scenario& scenario, Problem& problem, TrainingLog& log) {
    if (scenario.training->stand_in) job.charged = scenario.workload.layout;
    job.start = Vector(problem.layout(), problem.start());
    job.objective = [&problem](const Vector& x, int rank, std::int64_t) {
        return problem.gradient(x, rank);
    };
    // Where workers weigh alike and their batches do not, each computes its own mean.
    if (scenario.workload.batches.empty() || scenario.workload.weighs_samples)
        job.mean_objective = [&problem](const Vector& x, std::int64_t) {
            return problem.mean_gradient(x);
        };
    for (const auto& shard : shards_of(scenario))
        job.samples.push_back(static_cast<double>(shard.size()));
    const std::int64_t batch = *scenario.workload.samples_of_step(scenario.cluster.workers);
    job.learning_rate = [schedule = scenario.training->optimizer.schedule, batch,
                         steps = scenario.steps().value_or(1)](std::int64_t k) {
        return learning_rate_at(schedule, k, steps, batch);
    };
    const auto logged = job.gradients ? &TrainingLog::after_gradients : &TrainingLog::after_steps;
    job.after_steps = [&log, logged, marked = job.after_steps](int rank, std::int64_t k) {
        if (marked) marked(rank, k);
        (log.*logged)(rank, k);
    };
    job.after_death = [&log] { log.after_death(); };
}

}  // namespace paceline
