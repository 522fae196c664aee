#include "app/run/run_point.hpp"

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "algorithms/runtime/diverged.hpp"
#include "algorithms/runtime/worker_processes.hpp"
#include "analysis/measures/device_use.hpp"
#include "analysis/measures/step_marks.hpp"
#include "app/run/accounts.hpp"
#include "app/run/intervals.hpp"
#include "app/run/make_job.hpp"
#include "app/run/rated_part.hpp"
#include "app/run/seats.hpp"
#include "sim/engine/processes.hpp"
#include "sim/network/link_processes.hpp"

namespace paceline {

namespace {

std::uint64_t resumption_limit(const Scenario& scenario, SpinLimit spin) {
    double messages = messages_of_dearest_step(scenario);
    for (const Scenario& job : scenario.other_jobs) messages += messages_of_dearest_step(job);
    constexpr double most = 1e18;  // far beyond any run, and a 64-bit number
    return spin.base + static_cast<std::uint64_t>(
                           std::min(most, static_cast<double>(spin.per_message) * messages));
}

const WorkerObserver* workers_of(const Observer* observer) {
    return observer == nullptr ? nullptr : &observer->workers;
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
          network_(network),
          marks_(network, facts_of(scenario), periods_of(scenario)),
          cluster_(network, daemon_job(network.simulation(), workers_of(observer))),
          processes_(network.simulation(), EventKind::daemon) {
        marks_.watch(cluster_);
        start_services(scenario, cluster_);
        for (int rank = 0; rank < cluster_.workers(); ++rank)
            processes_.spawn(fmt::format("{} {}", scenario.job, rank),
                             scenario.algorithm.run(cluster_.worker(rank)));
    }

    [[nodiscard]] Metrics measured() const {
        Metrics metrics = marks_.measured(processes_.finished());
        metrics.job = scenario_.job;
        add_ratios(metrics, scenario_);
        const Time now = network_.simulation().now();
        add_accounts(metrics, scenario_, {device_use(cluster_, network_, now)});
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
    NetworkPart network_;
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

// PACELINE_EVENTS=1 sends every message of a collective by events. Results are the same bytes,
// later.
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
    const bool islands_die = !scenario.algorithm.islands.empty() &&
                             scenario.cluster.failures->on_death != OnDeath::restart;
    return {scenario.algorithm.run, scenario.algorithm.serve, scenario.algorithm.server_nodes,
            islands_die ? "island" : "node"};
}

void spawn_all(const Scenario& scenario, Cluster& cluster, Processes& processes) {
    start_services(scenario, cluster);
    const char* const name = scenario.cluster.bus ? "device" : "node";
    for (int rank = 0; rank < scenario.cluster.workers; ++rank)
        processes.spawn(fmt::format("{} {}", name, rank),
                        scenario.algorithm.run(cluster.worker(rank)));
}

// Adds what follows from the steps that were taken, and from what the machines have done by the end
// and by the target, if there is a log.
void add_what_it_took(Metrics& metrics, const Scenario& scenario, const DeviceUse& by_the_end,
                      const TrainingLog* log) {
    add_ratios(metrics, scenario);
    Used used{by_the_end};
    if (log != nullptr) used.by_the_target = log->use_at_target();
    add_accounts(metrics, scenario, used);
}

// Runs the main job, with all others on the network or without them.
Metrics run_main(const Scenario& scenario, Progress* progress, SpinLimit spin,
                 const Observer* observer, bool with_others) {
    Simulation simulation;
    simulation.limit_resumptions(resumption_limit(scenario, spin));
    simulation.report_to(progress);
    const ClusterChoice& choice = scenario.cluster;
    const Seats seats = take_seats(scenario);
    Fabric fabric = fabric_of(scenario, seats);
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
    StepMarks marks(network, facts_of(scenario), periods_of(scenario), skipped_steps(scenario));
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
    std::optional<Others> others;
    if (with_others) others.emplace(scenario, network, seats, observer);
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
                   [&] { return tally_of_run(simulation, network, cluster, facts_of(scenario)); });
    Metrics metrics =
        measure(simulation, network, cluster, ended.end, finished, facts_of(scenario), rated);
    if (others) metrics.other_jobs = others->measured();
    if (!ended.divergence.empty()) {
        metrics.outcome = "diverged";
        metrics.outcome_details = ended.divergence;
    }
    if (worker_processes) add_failures(metrics, cluster, *worker_processes, facts_of(scenario));
    if (log) {
        // What was stopped from outside is not judged: where it stopped is nobody's result.
        const bool has_ended = metrics.outcome != "stopped" || log->has_ended_the_run();
        if (ended.divergence.empty() && has_ended) log->finish();
        add_learning(metrics, *log);
    }
    const RatedSteps steps = rated_steps_of(scenario, metrics);
    if (const auto model = model_step_time(scenario, steps.first, steps.last))
        metrics.model_step_time_s = to_seconds(*model) / scenario.algorithm.computing;
    add_what_it_took(metrics, scenario, device_use(cluster, network, simulation.now()), log.get());
    if (scenario.spread) metrics.spread = spread_over_workers(simulation, network, cluster);
    return metrics;
}

Task<> wait_until(Simulation& simulation, Time end) {
    co_await simulation.sleep(end - simulation.now());
}

// Runs another job as beside the main one, on the same wires and for the same time, but without the
// main job and everything else.
Metrics run_other_alone(const Scenario& scenario, std::size_t other, Time end, Progress* progress,
                        SpinLimit spin) {
    Simulation simulation;
    simulation.limit_resumptions(resumption_limit(scenario, spin));
    simulation.report_to(progress);
    const Seats seats = take_seats(scenario);
    Fabric fabric = fabric_of(scenario, seats);
    const std::vector<Access> accesses = own_links(scenario, fabric, seats);
    const RandomStreams random(scenario.seed);
    Network network(simulation, std::move(fabric), transport_of(scenario.cluster), random);
    LinkProcesses link_processes(network, random);
    begin_access(link_processes, scenario.cluster.access, accesses);
    const OtherJob job(scenario.other_jobs[other],
                       NetworkPart(network, seats.first_host[other + 1]), nullptr);
    Processes clock(simulation);
    clock.spawn("clock", wait_until(simulation, end));
    run_to_its_end(simulation, network, end);
    return job.measured();
}

void add_slowdown(Metrics& shared, const Metrics& alone) {
    if (shared.step_time_s && alone.step_time_s && *alone.step_time_s > 0)
        shared.slowdown = *shared.step_time_s / *alone.step_time_s;
}

// Every run is on the wires of all jobs, so that routes of equal cost are drawn alike.
void add_slowdowns(Metrics& metrics, const Scenario& scenario, Progress* progress, SpinLimit spin) {
    if (metrics.failed()) return;
    const bool is_alone = scenario.other_jobs.empty() && scenario.cluster.background.empty();
    add_slowdown(metrics, is_alone ? metrics : run_main(scenario, progress, spin, nullptr, false));
    for (std::size_t i = 0; i < metrics.other_jobs.size(); ++i)
        add_slowdown(
            metrics.other_jobs[i],
            run_other_alone(scenario, i, Time{from_seconds(metrics.sim_time_s)}, progress, spin));
    if (progress != nullptr && progress->stop) metrics.outcome = "stopped";  // amid these runs
}

}  // namespace

Metrics run_point(const Scenario& scenario, Progress* progress, SpinLimit spin,
                  const Observer* observer) {
    Metrics metrics = run_main(scenario, progress, spin, observer, true);
    if (scenario.alone) add_slowdowns(metrics, scenario, progress, spin);
    if (scenario.interval && !metrics.failed())
        metrics.interval = time_interval(scenario, metrics, [&](const Scenario& other) {
            return run_main(other, nullptr, spin, nullptr, true);
        });
    return metrics;
}

}  // namespace paceline
