// Runs local methods on the quadratics of training_run.hpp, and repeats their steps with a matrix
// that has one column per worker.
#pragma once

#include <functional>
#include <utility>

#include "algorithms/dense/synchronous_sgd.hpp"
#include "algorithms/exchange/exchange_presets.hpp"
#include "tests/algorithms/runtime/training_run.hpp"
#include "tests/topologies/mixing/matrix.hpp"

namespace paceline {

inline const Link local_link{Bandwidth{1'000'000'000}, std::chrono::microseconds(5)};

using LocalAlgorithm = std::function<Task<>(Worker&)>;
using Rate = std::function<double(std::int64_t k)>;

inline double falling_rate(std::int64_t k) {
    return 0.6 / static_cast<double>(k + 3);
}
inline double constant_rate(std::int64_t /*k*/) {
    return 0.1;
}

inline Job local_job(std::int64_t steps, const Rate& rate, MixingSchedule mixing = {}) {
    Job job = training_job(small_layout(), steps);
    job.learning_rate = rate;
    job.mixing = std::move(mixing);
    return job;
}

/// Dense SGD, with its one model copied to every worker.
inline Task<> dense_on_all(Worker& self, MomentumRule rule) {
    co_await synchronous_sgd(self, SynchronousSgdOptions{dense_exchange(AllReduce::ring), rule});
    self.model() = self.replicated_model();
}
inline LocalAlgorithm of_dense(MomentumRule rule) {
    return [=](Worker& w) { return dense_on_all(w, rule); };
}

/// Nodes send to 2, 1, 1 and 1 others; every node can reach every other.
inline Mixing unbalanced_mixing() {
    return Mixing({{{0, 0.4}, {1, 0.3}, {2, 0.3}},
                   {{0, 0.5}, {1, 0.5}},
                   {{2, 0.5}, {3, 0.5}},
                   {{0, 0.5}, {3, 0.5}}});
}
/// Returns the matrix of push-sum: each node divides its value among itself and its listeners.
inline Eigen::MatrixXd shares_of_push_sum(const Mixing& mixing) {
    const Eigen::MatrixXd listens = (matrix(mixing).array() > 0).cast<double>();
    const Eigen::RowVectorXd out = listens.colwise().sum();
    return (listens.array().rowwise() / out.array()).matrix();
}

/// Returns the models of all workers after all steps, one column each.
inline Eigen::MatrixXd models_after(int nodes, Job job, const LocalAlgorithm& algorithm) {
    const Eigen::Index entries = job.start.entries();
    TrainingRun run(nodes, local_link, std::move(job));
    run.spawn_all(algorithm);
    run.simulation.run();
    Eigen::MatrixXd models(entries, nodes);
    for (int i = 0; i < nodes; ++i) models.col(i) = run.cluster.worker(i).current_model().values();
    return run.processes.finished() ? models : Eigen::MatrixXd{};
}

inline double distance(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
    return (a - b).cwiseAbs().maxCoeff();
}

/// Momentum SGD of all workers, one column each.
struct Columns {
    Eigen::MatrixXd x;
    Eigen::MatrixXd m;
    MomentumRule rule;

    Columns(int nodes, MomentumRule r)
        : x(Eigen::MatrixXd::Ones(26, nodes)), m(Eigen::MatrixXd::Zero(26, nodes)), rule(r) {}

    void step(std::int64_t k, double gamma) {
        for (int i = 0; i < x.cols(); ++i) {
            Eigen::VectorXd g = pull_to_own_target(x.col(i), i, k) + rule.weight_decay * x.col(i);
            m.col(i) = rule.momentum * m.col(i) + g;
            x.col(i) -= gamma * (rule.nesterov ? g + rule.momentum * m.col(i) : m.col(i).eval());
        }
    }
    [[nodiscard]] Eigen::VectorXd mean() const { return x.rowwise().mean(); }
    void all_at(const Eigen::VectorXd& at) { x.colwise() = at; }
};

}  // namespace paceline
