// Runs of the gossip family: models differ at the start, and some nodes start late.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/gossip/ad_psgd.hpp"
#include "algorithms/gossip/momentum_consensus.hpp"
#include "algorithms/gossip/osgp.hpp"
#include "algorithms/gossip/sgp.hpp"
#include "algorithms/gossip/swarm_sgd.hpp"
#include "tests/algorithms/runtime/training_run.hpp"
#include "topologies/mixing/graphs.hpp"

namespace paceline {

using GossipAlgorithm = std::function<Task<>(Worker&)>;

struct NamedGossip {
    std::string name;
    GossipAlgorithm run;
};

/// Every algorithm of the family, for laws that all of them obey.
inline std::vector<NamedGossip> gossip_algorithms(MomentumRule rule) {
    const SwarmSgdOptions swarm{.rule = rule, .local_steps = 2};
    SwarmSgdOptions geometric = swarm;
    geometric.steps_law = StepsLaw::geometric;
    SwarmSgdOptions lattice = swarm;
    lattice.lattice = Lattice{12, 0.01};
    const double beta = rule.momentum;
    return {
        {"of iterates", [=](Worker& w) { return momentum_consensus_of_iterates(w, {beta, 0.5}); }},
        {"of buffers", [=](Worker& w) { return momentum_consensus_of_buffers(w, {beta, 0.5}); }},
        {"sgp", [=](Worker& w) { return sgp(w, {rule}); }},
        {"osgp", [=](Worker& w) { return osgp(w, {rule}); }},
        {"ad-psgd", [=](Worker& w) { return ad_psgd(w, {rule}); }},
        {"blocking", [=](Worker& w) { return swarm_sgd_blocking(w, swarm); }},
        {"blocking, geometric", [=](Worker& w) { return swarm_sgd_blocking(w, geometric); }},
        {"non-blocking", [=](Worker& w) { return swarm_sgd_non_blocking(w, swarm); }},
        {"non-blocking, lattice", [=](Worker& w) { return swarm_sgd_non_blocking(w, lattice); }},
        {"one-sided", [=](Worker& w) { return swarm_sgd_one_sided(w, swarm); }},
    };
}

/// Waits for `late`, then runs the algorithm from a model of the node's own.
inline Task<> begin_late(Worker& self, Duration late, Vector start, GossipAlgorithm algorithm) {
    co_await self.simulation().sleep(late);
    self.model() = std::move(start);
    co_await algorithm(self);
}

/// Nodes that start at random times from random models.
struct GossipRun : TrainingRun {
    Eigen::MatrixXd first;  // one column per node

    GossipRun(int nodes, const Link& link, Job job, unsigned seed, const GossipAlgorithm& algorithm)
        : TrainingRun(nodes, link, std::move(job)) {
        std::mt19937_64 rng(seed);
        std::uniform_real_distribution<double> any(-1, 1);
        const LayoutPtr layout = cluster.worker(0).model().layout();
        first.resize(layout->entries(), nodes);
        for (int rank = 0; rank < nodes; ++rank) {
            const Duration late{static_cast<std::int64_t>(rng() % 1'000'000'000)};  // of 1 ms
            for (Eigen::Index i = 0; i < first.rows(); ++i) first(i, rank) = any(rng);
            Worker& self = cluster.worker(rank);
            spawn(rank, begin_late(self, late, Vector(layout, first.col(rank)), algorithm));
        }
        simulation.run();
    }
    [[nodiscard]] Eigen::MatrixXd last() {
        Eigen::MatrixXd models(first.rows(), first.cols());
        for (int rank = 0; rank < cluster.workers(); ++rank) models.col(rank) = model_of(rank);
        return models;
    }
};

/// Returns the root of the summed squared distances of the columns from their mean.
inline double spread(const Eigen::MatrixXd& models) {
    return (models.colwise() - models.rowwise().mean()).norm();
}

/// Returns a job whose gradients have a constant slope, 1 + rank, whatever the model.
inline Job sloping_job(const LayoutPtr& layout, std::int64_t steps, const Mixing& mixing,
                       std::uint64_t seed) {
    Job job = training_job(layout, steps);
    job.objective = [](const Vector& x, int rank, std::int64_t) {
        return Eigen::VectorXd(Eigen::VectorXd::Constant(x.entries(), 1.0 + rank));
    };
    job.mixing = std::make_shared<const Mixing>(mixing);
    job.seed = seed;
    return job;
}

/// Returns the sum of the models of a sloping job after so many steps at a learning rate of 0.1.
inline Eigen::VectorXd sum_down_the_slope(const Eigen::MatrixXd& first, std::int64_t steps) {
    const double n = static_cast<double>(first.cols());
    return first.rowwise().sum().array() - 0.1 * static_cast<double>(steps) * n * (n + 1) / 2;
}

/// Returns a job whose gradients are zero, so that only exchanges change the models.
inline Job idle_job(const LayoutPtr& layout, std::int64_t steps, const Mixing& mixing,
                    std::uint64_t seed) {
    Job job = training_job(layout, steps);
    job.objective = [](const Vector& x, int, std::int64_t) {
        return Eigen::VectorXd(Eigen::VectorXd::Zero(x.entries()));
    };
    job.mixing = std::make_shared<const Mixing>(mixing);
    job.seed = seed;
    return job;
}

}  // namespace paceline
