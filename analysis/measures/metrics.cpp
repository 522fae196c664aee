#include "analysis/measures/metrics.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "algorithms/runtime/cluster.hpp"
#include "algorithms/runtime/worker.hpp"
#include "algorithms/runtime/worker_processes.hpp"

namespace paceline {

namespace {

std::string outcome_name(RunEnd end, bool all_finished) {
    switch (end) {
        case RunEnd::idle:
            return all_finished ? "finished" : "deadlock";
        case RunEnd::stopped:
            return "stopped";
        case RunEnd::time_limit:
            return "time-limit";
        case RunEnd::out_of_range:
            return "out-of-range";
        case RunEnd::spinning:
            return "spinning";
    }
    return "?";
}

std::string describe(const Simulation& simulation, const std::string& outcome) {
    if (outcome == "spinning")
        return fmt::format("{} does not let time pass", simulation.spinning_process());
    if (outcome == "out-of-range") return "an event lies beyond the 106 days that a clock can tell";
    if (outcome != "deadlock") return {};
    std::string text;
    const std::vector<Waiting> all = simulation.waiting();
    constexpr std::size_t most = 5;
    for (std::size_t i = 0; i < all.size() && i < most; ++i)
        text += fmt::format("{}{} waits for {}", i == 0 ? "" : "; ", all[i].process, all[i].what);
    if (all.size() > most) text += fmt::format("; and {} more", all.size() - most);
    return text;
}

}  // namespace

namespace {

double wide_seconds(WideDuration span) {
    return static_cast<double>(span) / static_cast<double>(Duration::period::den);
}

void add_waiting(Metrics& m, const Simulation& simulation, const Cluster& cluster) {
    const Time end = simulation.now();
    if (end == Time{}) return;
    double stragglers = 0;
    double network = 0;
    double dead = 0;
    for (int rank = 0; rank < cluster.workers(); ++rank) {
        const TimeUse& use = cluster.time_use(rank);
        stragglers += to_seconds(use.waited_for_stragglers(end));
        network += to_seconds(use.waited_for_network(end));
        dead += to_seconds(use.waited_for_dead());
    }
    const double all_s = cluster.workers() * to_seconds(end.time_since_epoch());
    m.waiting_stragglers_share = stragglers / all_s;
    m.waiting_network_share = network / all_s;
    m.waiting_dead_share = dead / all_s;
}

}  // namespace

void Tally::add_time(Duration of_worker, Duration computing) {
    time += of_worker.count();
    idle += std::max(of_worker - computing, Duration::zero()).count();
}

void add_rates(Metrics& m, const Tally& tally, const RunFacts& facts) {
    const double n = m.devices;
    m.rated_iterations = tally.gradients / n;
    m.step_time_s = tally.time_s / m.rated_iterations;
    m.compute_s = tally.compute_s / tally.gradients;
    m.exposed_comm_s = wide_seconds(tally.idle) / tally.gradients;
    m.bytes_sent_per_node_per_step = tally.sent / m.nodes / m.rated_iterations;
    m.bytes_received_per_node_per_step = tally.received / m.nodes / m.rated_iterations;
    if (tally.time_s == 0) return;
    if (const auto batch = facts.charged_batch ? facts.charged_batch : facts.batch)
        m.samples_per_s = tally.batches * static_cast<double>(*batch) / tally.time_s;
    if (facts.batch && facts.dataset)
        m.epoch_time_s = *m.step_time_s * static_cast<double>(*facts.dataset) /
                         (static_cast<double>(*facts.batch) * facts.batches_of_step(m.devices));
    if (facts.worker_step > Duration::zero() && !facts.batches.empty()) {
        m.efficiency = tally.batches * to_seconds(facts.worker_step) / wide_seconds(tally.time);
        m.speedup = n * *m.efficiency;
    } else if (facts.worker_step > Duration::zero()) {
        // Both integers are rounded once, so equal ones have the ratio 1 and a lesser one no more.
        const auto steps = static_cast<WideDuration>(tally.gradients);
        m.efficiency = static_cast<double>(steps * facts.worker_step.count()) /
                       static_cast<double>(tally.time);
        m.speedup = n * *m.efficiency;
    }
}

double RunFacts::batches_of_step(int workers) const {
    if (batches.empty()) return workers;
    return std::accumulate(batches.begin(), batches.end(), 0.0);
}

Tally tally_of_run(const Simulation& simulation, NetworkPart network, const Cluster& cluster,
                   const RunFacts& facts) {
    const Duration run = simulation.now().time_since_epoch();
    Tally tally;
    tally.time_s = to_seconds(run);
    for (int rank = 0; rank < cluster.workers(); ++rank) {
        tally.gradients += static_cast<double>(cluster.state(rank).gradients);
        tally.batches += static_cast<double>(cluster.state(rank).gradients) * facts.batch_of(rank);
        tally.compute_s += to_seconds(cluster.state(rank).compute_time);
        tally.add_time(run, cluster.state(rank).compute_time);
        tally.sent += static_cast<double>(network.traffic(rank).sent.count);
        tally.received += static_cast<double>(network.traffic(rank).received.count);
    }
    return tally;
}

Metrics measure(const Simulation& simulation, NetworkPart network, const Cluster& cluster,
                RunEnd end, bool all_finished, const RunFacts& facts,
                const std::optional<Tally>& rated) {
    Metrics m;
    m.devices = cluster.workers();
    m.nodes = facts.nodes > 0 ? facts.nodes : m.devices;
    m.outcome = outcome_name(end, all_finished);
    m.outcome_details = describe(simulation, m.outcome);
    m.events = simulation.events_fired();
    const Tally whole = tally_of_run(simulation, network, cluster, facts);
    m.sim_time_s = whole.time_s;
    m.iterations = whole.gradients / m.devices;
    m.total_sent_gb = whole.sent * 1e-9;
    m.total_received_gb = whole.received * 1e-9;
    if (whole.gradients == 0) return m;
    if (const MeasuredDensity measured = cluster.metrics().measured_density(); measured.steps > 0) {
        m.density = measured.contribution;
        m.union_density = measured.merged;
    }
    if (const auto failures = cluster.metrics().decode_failures())
        m.decode_failures = static_cast<double>(*failures);
    add_waiting(m, simulation, cluster);
    m.staleness = cluster.metrics().staleness();
    m.participation = cluster.metrics().participation();
    if (const RunningMean& clients = cluster.metrics().clients(); clients.total() > 0) {
        m.rounds = static_cast<double>(clients.count());
        // A finished run has no unfinished round, and late letters of its last one.
        const Traffic& rounds = cluster.metrics().traffic_of_rounds();
        const double sent = all_finished ? whole.sent : static_cast<double>(rounds.sent.count);
        const double received =
            all_finished ? whole.received : static_cast<double>(rounds.received.count);
        m.bytes_sent_per_client_per_round = sent / clients.total();
        m.bytes_received_per_client_per_round = received / clients.total();
    }
    if (facts.batch && facts.dataset)
        m.epochs =
            whole.batches * static_cast<double>(*facts.batch) / static_cast<double>(*facts.dataset);
    if (rated) add_rates(m, *rated, facts);
    return m;
}

void add_failures(Metrics& metrics, const Cluster& cluster, const WorkerProcesses& processes,
                  const RunFacts& facts) {
    double samples = 0;
    double samples_that_count = 0;
    double computed = 0;
    double undone = 0;
    double away_s = 0;
    double writing_s = 0;
    for (int rank = 0; rank < cluster.workers(); ++rank) {
        const WorkerState& worker = cluster.state(rank);
        computed += static_cast<double>(worker.gradients + worker.undone);
        undone += static_cast<double>(worker.undone);
        const auto all = static_cast<double>(worker.gradients + worker.undone);
        samples += facts.batch_of(rank) * all;
        samples_that_count +=
            facts.batch_of(rank) * (all - static_cast<double>(worker.undone + worker.lost));
        away_s += to_seconds(cluster.time_use(rank).away());
        writing_s += to_seconds(cluster.time_use(rank).writing());
    }
    const double nodes_s = cluster.workers() * metrics.sim_time_s;
    metrics.deaths = static_cast<double>(processes.deaths());
    if (computed > 0) metrics.undone_share = undone / computed;
    if (samples > 0) metrics.goodput = samples_that_count / samples;
    if (nodes_s > 0) {
        metrics.away_share = away_s / nodes_s;
        metrics.checkpoint_share = writing_s / nodes_s;
    }
    if (metrics.outcome == "stopped" && !processes.no_progress().empty()) {
        metrics.outcome = "no-progress";
        metrics.outcome_details = processes.no_progress();
    }
    if (metrics.outcome != "deadlock") return;
    const std::string gone = processes.missing_nodes_text();
    if (gone.empty()) return;
    metrics.outcome_details =
        metrics.outcome_details.empty() ? gone : gone + "; " + metrics.outcome_details;
}

void add_learning(Metrics& metrics, TrainingLog& log) {
    metrics.timeline = log.evaluations();
    metrics.time_to_target_s = log.time_to_target_s();
    for (const Evaluation& evaluation : metrics.timeline)
        if (evaluation.sim_time_s == metrics.time_to_target_s)
            metrics.sent_gb_to_target = evaluation.bytes_sent_per_node * metrics.nodes * 1e-9;
    if (log.stopped_at_target()) metrics.outcome = "target";
    if (log.diverged()) metrics.outcome = "diverged";
    if (metrics.timeline.empty()) return;
    const Evaluation& last = metrics.timeline.back();
    metrics.train_loss = last.train_loss;
    metrics.test_loss = last.test_loss;
    metrics.test_accuracy = last.test_accuracy;
    metrics.consensus_distance = last.consensus_distance;
    metrics.relative_error = last.relative_error;
    if (metrics.outcome == "diverged") return;
    if (const auto local = log.local_accuracy()) {
        metrics.test_accuracy_local_mean = local->mean;
        metrics.test_accuracy_local_min = local->least;
    }
}

}  // namespace paceline
