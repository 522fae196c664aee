#include "analysis/measures/step_marks.hpp"

#include <algorithm>

#include "algorithms/runtime/cluster.hpp"
#include "algorithms/runtime/worker.hpp"

namespace paceline {

void StepMarks::watch(const Cluster& cluster) {
    cluster_ = &cluster;
    steps_.resize(static_cast<std::size_t>(cluster.workers()));
    if (ends_period_ || cluster.lives().failures()) periods_.resize(steps_.size());
    if (skipped_ > 0) begins_.resize(steps_.size());
}

void StepMarks::after_steps(int rank, std::int64_t k) {
    const WorkerState& worker = cluster_->state(rank);
    Mark& step = steps_[static_cast<std::size_t>(rank)];
    step = {k, network_.simulation().now().time_since_epoch(), worker.compute_time,
            worker.gradients, network_.traffic(rank)};
    if (k > 0 && k == skipped_) begins_[static_cast<std::size_t>(rank)] = step;
    if (k > 0 && !periods_.empty() && (!ends_period_ || ends_period_(k)))
        periods_[static_cast<std::size_t>(rank)] = step;
}

// Adds differences to the first time, so that the mean of equal times is exactly their value.
template <class MarkOf>
Tally StepMarks::tally_of(const MarkOf& mark_of) const {
    Tally tally;
    int rank = 0;
    const Duration first = mark_of(0).at;
    double later_s = 0;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
        const Mark mark = mark_of(i);
        later_s += to_seconds(mark.at - first);
        tally.compute_s += to_seconds(mark.compute);
        tally.add_time(mark.at, mark.compute);
        tally.gradients += static_cast<double>(mark.gradients);
        tally.batches += static_cast<double>(mark.gradients) * facts_.batch_of(rank++);
        tally.sent += static_cast<double>(mark.traffic.sent.count);
        tally.received += static_cast<double>(mark.traffic.received.count);
    }
    tally.time_s = to_seconds(first) + later_s / static_cast<double>(steps_.size());
    return tally;
}

StepMarks::Mark StepMarks::since(const Mark& begin, const Mark& end) {
    return {end.k - begin.k,
            end.at - begin.at,
            end.compute - begin.compute,
            end.gradients - begin.gradients,
            {end.traffic.sent - begin.traffic.sent, end.traffic.received - begin.traffic.received}};
}

std::optional<Tally> StepMarks::at_periods() const {
    if (steps_.empty()) return std::nullopt;
    const std::vector<Mark>& ends = periods_.empty() ? steps_ : periods_;
    const auto begin_of = [this](std::size_t rank) {
        return begins_.empty() ? Mark{} : begins_[rank];
    };
    for (std::size_t rank = 0; rank < ends.size(); ++rank) {
        const Mark begin = begin_of(rank);
        if (begin.k < skipped_ || ends[rank].k <= begin.k) return std::nullopt;
    }
    const Tally tally =
        tally_of([&](std::size_t rank) { return since(begin_of(rank), ends[rank]); });
    return tally.gradients > 0 ? std::optional(tally) : std::nullopt;
}

std::optional<Tally> StepMarks::at_steps() const {
    if (!any_step()) return std::nullopt;
    const auto computed = [](const Mark& mark) { return mark.gradients > 0; };
    if (std::ranges::none_of(steps_, computed)) return std::nullopt;
    const bool have_all = std::ranges::all_of(steps_, computed);
    return tally_of([&](std::size_t rank) {
        Mark mark = steps_[rank];
        if (!have_all) mark.at = network_.simulation().now().time_since_epoch();
        return mark;
    });
}

bool StepMarks::any_step() const {
    return std::ranges::any_of(steps_, [](const Mark& mark) { return mark.k > 0; });
}

Metrics StepMarks::measured(bool finished) const {
    Metrics m;
    m.devices = cluster_->workers();
    m.nodes = facts_.nodes > 0 ? facts_.nodes : m.devices;
    m.outcome = finished ? "finished" : "main-ended";
    const Tally steps = tally_of([this](std::size_t rank) { return steps_[rank]; });
    m.sim_time_s = steps.time_s;
    m.iterations = steps.gradients / m.devices;
    Traffic total;
    for (int rank = 0; rank < m.devices; ++rank) {
        total.sent += network_.traffic(rank).sent;
        total.received += network_.traffic(rank).received;
    }
    m.total_sent_gb = gigabytes(total.sent);
    m.total_received_gb = gigabytes(total.received);
    if (steps.gradients == 0) return m;
    if (facts_.batch && facts_.dataset)
        m.epochs = steps.batches * static_cast<double>(*facts_.batch) /
                   static_cast<double>(*facts_.dataset);
    auto rated = at_periods();
    if (!rated) rated = at_steps();
    if (rated) add_rates(m, *rated, facts_);
    return m;
}

}  // namespace paceline
