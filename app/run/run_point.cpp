#include "app/run/run_point.hpp"

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "algorithms/runtime/diverged.hpp"
#include "algorithms/runtime/worker_processes.hpp"
#include "analysis/measures/step_marks.hpp"
#include "app/run/link_names.hpp"
#include "sim/engine/processes.hpp"
#include "sim/network/link_processes.hpp"

namespace paceline {

namespace {

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
            make_failures(*failures, scenario.algorithm, scenario.cluster.workers, scenario.seed);
    job.takes_step = [steps](std::int64_t k) { return k < steps; };
    return job;
}

Shards shards_of(const Scenario& scenario) {
    return scenario.training->data.deal(scenario.cluster.workers, RandomStreams(scenario.seed));
}

std::unique_ptr<Problem> make_problem(const Scenario& scenario) {
    const Training& training = *scenario.training;
    ProblemOptions options;
    options.shards = shards_of(scenario);
    options.batch = static_cast<int>(*scenario.workload.step_batch());
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
        options.minimum = training.model.minimum(*training.data.set(), shards_of(scenario),
                                                 training.optimizer.weight_decay);
    if (observer != nullptr) options.evaluated = observer->evaluated;
    return std::make_unique<TrainingLog>(simulation, network, problem, options);
}

std::function<bool(std::int64_t)> periods_of(const Scenario& scenario) {
    if (scenario.algorithm.period == 1) return {};
    return [&scenario](std::int64_t k) { return whole_steps(scenario, k) == k; };
}

// Returns whether a run that ends by its number of steps ends whole periods of all workers.
bool ends_with_a_period(const Scenario& scenario) {
    if (scenario.algorithm.period == 1) return true;
    if (scenario.gradients_of_all()) return false;
    const std::optional<std::int64_t> steps = scenario.steps_of_each();
    return steps && whole_steps(scenario, *steps) == *steps;
}

// Adds values to the job. Requires that problem and log outlive it.
void make_it_train(Job& job, const Scenario& scenario, Problem& problem, TrainingLog& log) {
    if (scenario.training->stand_in) job.charged = scenario.workload.layout;
    job.start = Vector(problem.layout(), problem.start());
    job.objective = [&problem](const Vector& x, int rank, std::int64_t) {
        return problem.gradient(x, rank);
    };
    job.mean_objective = [&problem](const Vector& x, std::int64_t) {
        return problem.mean_gradient(x);
    };
    for (const auto& shard : shards_of(scenario))
        job.samples.push_back(static_cast<double>(shard.size()));
    const std::int64_t batch = *scenario.workload.step_batch() * scenario.cluster.workers;
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

}  // namespace

namespace {

std::uint64_t resumption_limit(const Scenario& scenario, SpinLimit spin) {
    double messages = messages_of_dearest_step(scenario);
    for (const Scenario& job : scenario.other_jobs) messages += messages_of_dearest_step(job);
    constexpr double most = 1e18;  // far beyond any run, and a 64-bit number
    return spin.base + static_cast<std::uint64_t>(
                           std::min(most, static_cast<double>(spin.per_message) * messages));
}

}  // namespace

namespace {

// Which process runs on which host: the machines of the main job, then those of each other job,
// each job followed by its servers, then two for each source of background traffic.
struct Seats {
    Seating seating;
    std::vector<int> first_host;  // of each job
};

Seats take_seats(const Scenario& scenario) {
    Seats seats;
    std::vector<int>& nodes = seats.seating.nodes;
    const auto begin = [&] {
        seats.first_host.push_back(static_cast<int>(nodes.size()) *
                                   scenario.cluster.devices_per_node);
    };
    const auto seat = [&](const Scenario& job) {
        begin();
        const std::vector<int>& placement = job.cluster.placement;
        for (int i = 0; i < job.cluster.nodes; ++i)
            nodes.push_back(placement.empty() ? i : placement[static_cast<std::size_t>(i)]);
        for (int i = 0; i < job.algorithm.server_nodes; ++i)
            nodes.push_back(scenario.cluster.fabric_nodes + seats.seating.servers++);
    };
    seat(scenario);
    for (const Scenario& job : scenario.other_jobs) seat(job);
    for (const Background& background : scenario.cluster.background) {
        begin();
        nodes.insert(nodes.end(), {background.from, background.to});
    }
    return seats;
}

// Adds the workers and servers of a job, starting at its first host.
void add_roles(std::vector<HostRole>& hosts, int first, int number, const Scenario& job) {
    const int devices = job.cluster.devices_per_node;
    const int workers = job.cluster.workers;
    for (int rank = 0; rank < workers + job.algorithm.server_nodes; ++rank) {
        const bool works = rank < workers;
        hosts[static_cast<std::size_t>(first + rank)] = {
            .kind = works ? HostRole::Kind::worker : HostRole::Kind::server,
            .job = number,
            .job_name = number == 0 ? "" : job.job,
            .rank = rank,
            .node = works ? rank / devices : job.cluster.nodes + rank - workers,
            .device = works ? rank % devices : 0};
    }
}

using LinkNames = std::function<std::string(LinkId link)>;

LinkNames link_names(const Scenario& scenario, const Fabric& fabric) {
    return [label = fabric.label, nodes = scenario.cluster.fabric_nodes](LinkId link) {
        return name_of_link(label(link), nodes);
    };
}

Machine machine_of(const Scenario& scenario, const Network& network, const Seats& seats,
                   LinkNames names) {
    std::vector<HostRole> hosts(static_cast<std::size_t>(network.hosts()));
    std::size_t seat = 0;
    int number = 0;
    add_roles(hosts, seats.first_host[seat++], number++, scenario);
    for (const Scenario& job : scenario.other_jobs)
        add_roles(hosts, seats.first_host[seat++], number++, job);
    for (int i = 0; std::cmp_less(i, scenario.cluster.background.size()); ++i) {
        const int first = seats.first_host[seat++];
        for (const int end : {0, 1})
            hosts[static_cast<std::size_t>(first + end * scenario.cluster.devices_per_node)] = {
                .kind = HostRole::Kind::background, .job = i, .rank = end, .node = end};
    }
    return {network.simulation(), network, std::move(hosts), std::move(names)};
}

const WorkerObserver* workers_of(const Observer* observer) {
    return observer == nullptr ? nullptr : &observer->workers;
}

Fabric make_fabric(const Scenario& scenario, const Seats& seats) {
    if (scenario.shares_network())
        return scenario.cluster.make_fabric(seats.seating, scenario.seed);
    return scenario.cluster.make_fabric(scenario.algorithm.server_nodes, scenario.seed);
}

// The links of the main job's nodes that change; none if none do.
std::vector<Access> own_links(const Scenario& scenario, const Fabric& fabric, const Seats& seats) {
    const ClusterChoice& choice = scenario.cluster;
    if (choice.access.empty()) return {};
    if (!scenario.shares_network()) return accesses_of(fabric, choice.nodes);
    return accesses_of(fabric, choice.nodes, seats.seating.nodes);
}

RunFacts facts_of(const Scenario& scenario) {
    const Workload& workload = scenario.workload;
    return {workload.step(), workload.step_batch(), workload.dataset, scenario.cluster.nodes,
            workload.charged_step_batch()};
}

// Metrics count gradients: n of them are an iteration, whatever steps computed them.
std::int64_t steps_of(const Scenario& scenario, double iterations) {
    return static_cast<std::int64_t>(iterations / scenario.algorithm.computing + 1e-6);
}

struct RatedSteps {
    std::int64_t first;
    std::int64_t last;  // exclusively
};
RatedSteps rated_steps_of(const Scenario& scenario, const Metrics& metrics) {
    const std::int64_t first = skipped_steps(scenario);
    return {first, first + steps_of(scenario, metrics.rated_iterations)};
}

// Adds the metrics that follow from the scenario and the steps that were taken.
void add_ratio_and_cost(Metrics& metrics, const Scenario& scenario) {
    const RatedSteps rated = rated_steps_of(scenario, metrics);
    metrics.compression_ratio = compression_ratio(scenario, rated.first, rated.last);
    if (const auto memory = device_memory(scenario))
        metrics.memory_gb = static_cast<double>(memory->count) * 1e-9;
    if (scenario.price && metrics.total_sent_gb && metrics.total_received_gb)
        metrics.cost = scenario.price->up_per_gb * *metrics.total_sent_gb +
                       scenario.price->down_per_gb * *metrics.total_received_gb;
}

void start_services(const Scenario& scenario, Cluster& cluster) {
    if (!scenario.algorithm.serve) return;
    for (int i = 0; i < scenario.algorithm.server_nodes; ++i)
        cluster.serve(cluster.workers() + i, fmt::format("server {}", i),
                      scenario.algorithm.serve(cluster.server(i)));
}

// A job besides the main one. It has no values, and it is cut off when the main job ends.
class OtherJob {
  public:
    OtherJob(const Scenario& scenario, NetworkPart network, const Observer* observer)
        : scenario_(scenario),
          marks_(network, periods_of(scenario)),
          cluster_(network, daemon_job(network.simulation(), workers_of(observer))),
          processes_(network.simulation(), EventKind::daemon) {
        marks_.watch(cluster_);
        start_services(scenario, cluster_);
        for (int rank = 0; rank < cluster_.workers(); ++rank)
            processes_.spawn(fmt::format("{} {}", scenario.job, rank),
                             scenario.algorithm.run(cluster_.worker(rank)));
    }

    [[nodiscard]] Metrics measured() const {
        Metrics metrics = marks_.measured(processes_.finished(), facts_of(scenario_));
        metrics.job = scenario_.job;
        add_ratio_and_cost(metrics, scenario_);
        return metrics;
    }

  private:
    Job daemon_job(const Simulation& simulation, const WorkerObserver* observer) {
        Job job = make_job(scenario_);
        job.observer = observer;
        job.kind = EventKind::daemon;
        job.after_steps = [this](int rank, std::int64_t k) { marks_.after_steps(rank, k); };
        if (const auto time = scenario_.stop.time)
            job.takes_step = [&simulation, end = Time{*time}, in_number = job.takes_step](
                                 std::int64_t k) { return in_number(k) && simulation.now() < end; };
        return job;
    }

    const Scenario& scenario_;
    StepMarks marks_;
    Cluster cluster_;
    Processes processes_;
};

// Everything on the network except the main job.
class Others {
  public:
    Others(const Scenario& scenario, Network& network, const Seats& seats, const Observer* observer)
        : sources_(network.simulation(), EventKind::daemon) {
        const std::vector<Background>& background = scenario.cluster.background;
        std::size_t seat = 1;
        for (const Scenario& job : scenario.other_jobs)
            jobs_.emplace_back(job, NetworkPart(network, seats.first_host[seat++]), observer);
        const int per_machine = scenario.cluster.devices_per_node;
        const RandomStreams streams(scenario.seed);
        for (std::size_t i = 0; i < background.size(); ++i)
            sources_.spawn(
                fmt::format("background {}", i),
                background_traffic({network, seats.first_host[seat++]}, 0, per_machine,
                                   background[i].source, streams.stream("background", i)));
    }

    [[nodiscard]] std::vector<Metrics> measured() const {
        std::vector<Metrics> all;
        for (const OtherJob& job : jobs_) all.push_back(job.measured());
        return all;
    }

  private:
    std::deque<OtherJob> jobs_;
    Processes sources_;
};

// How a run ended: the engine's reason, or a gradient that is not finite.
struct Ended {
    RunEnd end = RunEnd::stopped;
    std::string divergence;
};

// PACELINE_EVENTS=1 sends every message of a collective by events. Results are the same bytes, later.
Transport transport_of(const ClusterChoice& choice) {
    Transport transport = choice.transport();
    const char* const forced = std::getenv("PACELINE_EVENTS");  // NOLINT(concurrency-mt-unsafe)
    transport.by_events = forced != nullptr && std::string_view(forced) == "1";
    return transport;
}

// What still runs ahead at the end goes on by events, so that counts are those of the end.
Ended run_to_its_end(Simulation& simulation, Network& network, Time limit) {
    try {
        RunEnd end = simulation.run(limit);
        while (network.settle() && end != RunEnd::stopped) end = simulation.run(limit);
        return {end, {}};
    } catch (const Diverged& divergence) {
        return {RunEnd::stopped, divergence.what()};
    }
}

WorkerProgram program_of(const Scenario& scenario) {
    return {scenario.algorithm.run, scenario.algorithm.serve, scenario.algorithm.server_nodes};
}

void spawn_all(const Scenario& scenario, Cluster& cluster, Processes& processes) {
    start_services(scenario, cluster);
    const char* const name = scenario.cluster.bus ? "device" : "node";
    for (int rank = 0; rank < scenario.cluster.workers; ++rank)
        processes.spawn(fmt::format("{} {}", name, rank),
                        scenario.algorithm.run(cluster.worker(rank)));
}

struct HowItEnded {
    bool finished;
    bool nodes_fail;
};

// Returns what the rates of a run are about: its whole periods, its whole steps, or all of it. Nothing if
// no step was whole.
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

}  // namespace

Fabric fabric_of(const Scenario& scenario) {
    return make_fabric(scenario, take_seats(scenario));
}

Metrics run_point(const Scenario& scenario, Progress* progress, SpinLimit spin,
                  const Observer* observer) {
    Simulation simulation;
    simulation.limit_resumptions(resumption_limit(scenario, spin));
    simulation.report_to(progress);
    const ClusterChoice& choice = scenario.cluster;
    const Seats seats = take_seats(scenario);
    Fabric fabric = make_fabric(scenario, seats);
    const std::vector<Access> accesses = own_links(scenario, fabric, seats);
    LinkNames names;
    if (observer != nullptr) names = link_names(scenario, fabric);
    const RandomStreams random(scenario.seed);
    Network network(simulation, std::move(fabric), transport_of(choice), random);
    if (observer != nullptr) {
        notify(observer->begins, machine_of(scenario, network, seats, std::move(names)));
        network.observe(&observer->network);
    }
    LinkProcesses link_processes(network, random);
    begin_access(link_processes, choice.access, accesses);
    StepMarks marks(network, periods_of(scenario), skipped_steps(scenario));
    Job job = make_job(scenario);
    job.observer = workers_of(observer);
    job.after_steps = [&marks](int rank, std::int64_t k) { marks.after_steps(rank, k); };
    std::unique_ptr<Problem> problem;
    std::unique_ptr<TrainingLog> log;
    if (scenario.training) {
        problem = make_problem(scenario);
        log = make_log(scenario, simulation, network, *problem, observer);
        make_it_train(job, scenario, *problem, *log);
    }
    Cluster cluster(network, std::move(job));
    marks.watch(cluster);
    if (log) log->watch(cluster);
    const Others others(scenario, network, seats, observer);
    Processes processes(simulation);
    std::optional<WorkerProcesses> worker_processes;
    if (choice.failures)
        worker_processes.emplace(network, cluster, program_of(scenario)).begin();
    else
        spawn_all(scenario, cluster, processes);

    const Ended ended =
        run_to_its_end(simulation, network, scenario.stop.time ? Time{*scenario.stop.time} : never);

    if (worker_processes) worker_processes->count_absences();
    if (observer != nullptr) notify(observer->ends, cluster);
    const bool finished = worker_processes ? worker_processes->finished() : processes.finished();
    const std::optional<Tally> rated =
        rated_part(scenario, {finished, worker_processes.has_value()}, marks,
                   [&] { return tally_of_run(simulation, network, cluster); });
    Metrics metrics =
        measure(simulation, network, cluster, ended.end, finished, facts_of(scenario), rated);
    metrics.other_jobs = others.measured();
    if (!ended.divergence.empty()) {
        metrics.outcome = "diverged";
        metrics.outcome_details = ended.divergence;
    }
    if (worker_processes) add_failures(metrics, cluster, *worker_processes);
    if (log) {
        // What was stopped from outside is not judged: where it stopped is nobody's result.
        const bool has_ended = metrics.outcome != "stopped" || log->has_ended_the_run();
        if (ended.divergence.empty() && has_ended) log->finish();
        add_learning(metrics, *log);
    }
    const RatedSteps steps = rated_steps_of(scenario, metrics);
    if (const auto model = model_step_time(scenario, steps.first, steps.last))
        metrics.model_step_time_s = to_seconds(*model) / scenario.algorithm.computing;
    add_ratio_and_cost(metrics, scenario);
    return metrics;
}

}  // namespace paceline
