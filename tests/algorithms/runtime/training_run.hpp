// A training job on an idle star, for the tests of workers and algorithms.
#pragma once

#include <chrono>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <Eigen/Core>

#include "algorithms/runtime/cluster.hpp"
#include "analysis/forms/closed_forms.hpp"
#include "analysis/forms/step_models.hpp"
#include "sim/engine/processes.hpp"
#include "topologies/fabrics/star.hpp"

namespace paceline {

struct TrainingRun {
    Simulation simulation;
    Network network;
    Cluster cluster;
    Processes processes{simulation};

    TrainingRun(int nodes, const Link& link, Job job)
        : network(simulation, make_star(nodes, link, link)), cluster(network, std::move(job)) {}

    void spawn(int rank, Task<> work) {
        processes.spawn("node " + std::to_string(rank), std::move(work));
    }
    /// `algorithm(worker)` returns the work of one.
    template <class Algorithm>
    void spawn_all(const Algorithm& algorithm) {
        for (int rank = 0; rank < cluster.workers(); ++rank)
            spawn(rank, algorithm(cluster.worker(rank)));
    }
    [[nodiscard]] Duration elapsed() const { return simulation.now().time_since_epoch(); }
    [[nodiscard]] const Eigen::VectorXd& model_of(int rank) {
        return cluster.worker(rank).model().values();
    }
    [[nodiscard]] Bytes sent_by_all() const {
        Bytes sum;
        for (int rank = 0; rank < cluster.workers(); ++rank) sum += network.traffic(rank).sent;
        return sum;
    }
};

/// The star of these links as closed forms see it.
inline IdleStar idle_star(const Link& link) {
    return {link.capacity(), 2 * link.latency};
}

inline IdleNetwork idle_network(const Link& link) {
    return {idle_star(link), {}, 1};
}

/// What step models need to know about such a run.
inline StepModelInput on_star(int nodes, const IdleStar& star, Duration step, LayoutPtr layout) {
    const StepTiming timing = make_step_timing(step, *layout);
    return {nodes, {star, {}, 1}, timing, {}, std::move(layout), fp32};
}

inline LayoutPtr make_layout(std::vector<Tensor> tensors) {
    return std::make_shared<const Layout>(std::move(tensors));
}

/// 26 entries in 4 tensors, two of them compressible.
inline LayoutPtr small_layout() {
    return make_layout(
        {{"conv.weight", {4, 3}}, {"conv.bias", {4}}, {"fc.weight", {2, 4}}, {"fc.bias", {2}}});
}

inline constexpr Duration step_of_tests = std::chrono::milliseconds(1);

inline Job timing_job(const LayoutPtr& layout, std::int64_t steps) {
    Job job{Vector(layout)};
    job.timing = make_step_timing(step_of_tests, *layout);
    job.takes_step = [steps](std::int64_t k) { return k < steps; };
    return job;
}

/// The minimizer of worker i's own f_i(x) = 1/2 |x - t_i|^2.
inline Eigen::VectorXd own_target(int rank, Eigen::Index entries) {
    return (Eigen::ArrayXd::LinSpaced(entries, 1, 2) * (1.0 + rank)).sin();
}

/// The gradient of f_i plus noise that depends on worker and step.
inline Eigen::VectorXd pull_to_own_target(const Eigen::VectorXd& x, int rank, std::int64_t k) {
    const double noise = 0.1 * std::sin(5.0 * rank + static_cast<double>(k));
    return x - own_target(rank, x.size()) + Eigen::VectorXd::Constant(x.size(), noise);
}

/// All workers start from a vector of ones.
inline Job training_job(const LayoutPtr& layout, std::int64_t steps) {
    Job job = timing_job(layout, steps);
    job.start = Vector(layout, Eigen::VectorXd::Ones(layout->entries()));
    job.objective = [](const Vector& x, int rank, std::int64_t k) {
        return pull_to_own_target(x.values(), rank, k);
    };
    return job;
}

}  // namespace paceline
