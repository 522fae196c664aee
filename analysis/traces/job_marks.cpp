#include "analysis/traces/job_marks.hpp"

#include "algorithms/runtime/cluster.hpp"
#include "algorithms/runtime/worker.hpp"

namespace paceline {

void JobMarks::watch(const Cluster& cluster) {
    cluster_ = &cluster;
    marks_.resize(static_cast<std::size_t>(cluster.workers()));
}

void JobMarks::after_steps(int rank, std::int64_t /*k*/) {
    const Worker& worker = cluster_->worker(rank);
    marks_[static_cast<std::size_t>(rank)] = {network_.simulation().now(), worker.compute_time(),
                                              worker.gradients_computed(), network_.traffic(rank)};
}

Metrics JobMarks::measured(bool finished, const RunFacts& facts) const {
    Metrics m;
    m.devices = cluster_->workers();
    m.nodes = facts.nodes > 0 ? facts.nodes : m.devices;
    m.outcome = finished ? "finished" : "main-ended";
    double time_s = 0;
    double compute_s = 0;
    double gradients = 0;
    Traffic whole;
    Traffic total;
    for (int rank = 0; rank < m.devices; ++rank) {
        const Mark& mark = marks_[static_cast<std::size_t>(rank)];
        time_s += to_seconds(mark.at.time_since_epoch());
        compute_s += to_seconds(mark.compute);
        gradients += static_cast<double>(mark.gradients);
        whole.sent += mark.traffic.sent;
        whole.received += mark.traffic.received;
        total.sent += network_.traffic(rank).sent;
        total.received += network_.traffic(rank).received;
    }
    const double n = m.devices;
    m.sim_time_s = time_s / n;
    m.iterations = gradients / n;
    m.total_sent_gb = gigabytes(total.sent);
    m.total_received_gb = gigabytes(total.received);
    if (gradients == 0) return m;
    m.step_time_s = time_s / gradients;
    m.compute_s = compute_s / gradients;
    m.exposed_comm_s = *m.step_time_s - *m.compute_s;
    m.bytes_sent_per_node_per_step = static_cast<double>(whole.sent.count) / m.nodes / m.iterations;
    m.bytes_received_per_node_per_step =
        static_cast<double>(whole.received.count) / m.nodes / m.iterations;
    if (facts.batch && facts.dataset)
        m.epochs =
            gradients * static_cast<double>(*facts.batch) / static_cast<double>(*facts.dataset);
    if (time_s == 0) return m;
    if (facts.batch) m.samples_per_s = n * static_cast<double>(*facts.batch) / *m.step_time_s;
    if (facts.worker_step > Duration::zero()) {
        m.speedup = n * to_seconds(facts.worker_step) / *m.step_time_s;
        m.efficiency = *m.speedup / n;
    }
    return m;
}

}  // namespace paceline
