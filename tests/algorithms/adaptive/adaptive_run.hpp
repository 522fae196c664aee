// Shared by the tests of the adaptive family: a job with a schedule, and oracles in plain Eigen.
#pragma once

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include <Eigen/Core>
#include <doctest/doctest.h>

#include "algorithms/optimizers/adam.hpp"
#include "tests/algorithms/compression/one_bit_oracle.hpp"
#include "tests/algorithms/runtime/training_run.hpp"

namespace paceline {

inline const Link adaptive_link{Bandwidth{1'000'000'000}, std::chrono::microseconds(5)};

inline double adaptive_rate(std::int64_t k) {
    return 0.05 / std::sqrt(static_cast<double>(k + 1));
}

/// small_layout has 26 entries in four tensors.
inline Job adaptive_job(std::int64_t steps) {
    Job job = training_job(small_layout(), steps);
    job.learning_rate = adaptive_rate;
    return job;
}

/// Returns the model of the first worker after all steps.
template <class Algorithm>
Eigen::VectorXd model_after(int nodes, Job job, const Algorithm& algorithm) {
    TrainingRun run(nodes, adaptive_link, std::move(job));
    run.spawn_all(algorithm);
    run.simulation.run();
    REQUIRE(run.processes.finished());
    return run.cluster.worker(0).current_model().values();
}

inline std::vector<Eigen::VectorXd> own_gradients(int n, const std::vector<Eigen::VectorXd>& x,
                                                  std::int64_t k) {
    std::vector<Eigen::VectorXd> all;
    for (int i = 0; i < n; ++i)
        all.push_back(pull_to_own_target(x[static_cast<std::size_t>(i)], i, k));
    return all;
}

inline std::vector<Eigen::VectorXd> own_gradients(int n, const Eigen::VectorXd& x, std::int64_t k) {
    return own_gradients(n, std::vector<Eigen::VectorXd>(static_cast<std::size_t>(n), x), k);
}

inline Eigen::VectorXd mean_of(const std::vector<Eigen::VectorXd>& all) {
    Eigen::VectorXd sum = Eigen::VectorXd::Zero(all.front().size());
    for (const Eigen::VectorXd& one : all) sum += one;
    return sum / static_cast<double>(all.size());
}

inline Eigen::VectorXd direction(const AdamRule& rule, const Eigen::VectorXd& m,
                                 const Eigen::VectorXd& v, const Eigen::VectorXd& x) {
    Eigen::VectorXd d(m.size());
    for (Eigen::Index e = 0; e < m.size(); ++e)
        d(e) = m(e) / (std::sqrt(v(e)) + rule.epsilon) + rule.weight_decay * x(e);
    return d;
}

}  // namespace paceline
