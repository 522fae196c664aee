// What learning looks like from outside: the models of a run, scored at a cadence.
//
// An evaluation is of the averaged model xbar = (1/n) sum of x_i:
//
//   losses             mean over predictions, without weight decay, of the samples that are scored
//   accuracy           share of the test predictions that are right
//   consensus distance sqrt((1/n) sum of |x_i - xbar|^2)
//   relative error     (1/n) sum of |x_i - x*|^2 / |x*|^2, where the minimum x* is known
//
// By iterations: the models that each worker has after exactly k steps, at the time when the last
// worker that is there has taken them (of workers that were away then, none). By time: the models as they are then. The first evaluation is of the
// start, the last of the end. Evaluating takes no simulated time.
//
// A run whose loss is not finite, or a million times what it was at the start, has diverged and is
// ended; so is one that reaches a target to stop at.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "algorithms/cluster.hpp"
#include "models/problem.hpp"
#include "sim/engine/simulation.hpp"
#include "sim/network/network.hpp"

namespace paceline {

struct Evaluation {
    double sim_time_s = 0;
    double iteration = 0;  // steps taken, mean over workers
    double train_loss = 0;
    double test_loss = 0;
    std::optional<double> test_accuracy;  // empty for regression
    double consensus_distance = 0;
    std::optional<double> relative_error;  // of linear regression
    double bytes_sent_per_node = 0;        // since the start
};

/// When to evaluate between the start and the end; both 0: not at all.
struct Cadence {
    std::int64_t iterations = 0;
    Duration time{};
};

/// All that are given have to hold.
struct Target {
    std::optional<double> train_loss;     // at most
    std::optional<double> test_loss;      // at most
    std::optional<double> test_accuracy;  // at least

    [[nodiscard]] bool given() const { return train_loss || test_loss || test_accuracy; }
    [[nodiscard]] bool holds(const Evaluation& evaluation) const;
};

/// Accuracies of the workers' own models.
struct LocalAccuracy {
    double mean = 0;
    double least = 0;
};

struct TrainingLogOptions {
    Cadence cadence;
    Target measured;                           // the time of its first reaching is noted
    Target stop;                               // ends the run
    std::optional<std::int64_t> steps;         // of the run, where they are known beforehand
    int nodes = 1;                             // machines
    std::optional<Eigen::VectorXd> minimum{};  // x*
};

class TrainingLog {
  public:
    /// A loss beyond so many times (1 + the loss at the start) has diverged.
    static constexpr double most_growth = 1e6;

    /// Requires that all outlive the log.
    TrainingLog(Simulation& simulation, const Network& network, Problem& problem,
                TrainingLogOptions options);
    TrainingLog(const TrainingLog&) = delete;
    TrainingLog& operator=(const TrainingLog&) = delete;

    /// Begins; once, before the run.
    void watch(const Cluster& cluster);
    /// Job::after_steps.
    void after_steps(int rank, std::int64_t k);
    /// Job::after_death: nobody waits for a worker that has left.
    void after_death();
    /// Evaluates the models at the end of a run that was cut, if they have not been. Once, after
    /// the run.
    void finish();

    [[nodiscard]] const std::vector<Evaluation>& evaluations() const { return evaluations_; }
    [[nodiscard]] bool stopped_at_target() const { return stopped_at_target_; }
    [[nodiscard]] bool diverged() const { return diverged_; }
    /// When the measured target first held.
    [[nodiscard]] std::optional<double> time_to_target_s() const { return time_to_target_s_; }
    /// Of the models as they are; empty for regression.
    [[nodiscard]] std::optional<LocalAccuracy> local_accuracy();

  private:
    // The models after k steps, of those that have got there.
    struct Snapshot {
        std::vector<std::optional<Vector>> models;
        int there = 0;
    };

    [[nodiscard]] bool is_due(std::int64_t k) const;
    [[nodiscard]] bool awaits(int rank, std::int64_t k) const;
    void evaluate_if_whole(std::int64_t k);
    [[nodiscard]] std::vector<Vector> models_now() const;
    void evaluate_by_time(std::uint32_t unused);
    void evaluate(const std::vector<Vector>& models, double iteration);
    void judge(const Evaluation& evaluation);

    Simulation& simulation_;
    const Network& network_;
    Problem& problem_;
    TrainingLogOptions options_;
    const Cluster* cluster_ = nullptr;
    std::map<std::int64_t, Snapshot> snapshots_;  // under way, by k
    std::vector<Evaluation> evaluations_;
    std::optional<double> time_to_target_s_;
    bool stopped_at_target_ = false;
    bool diverged_ = false;
};

}  // namespace paceline
