// The course of learning: evaluates the models of a run at a cadence.
//
// An evaluation scores the averaged model xbar = (1/n) sum of x_i:
//
//   losses             mean over predictions, without weight decay, of the samples that are scored
//   accuracy           share of the test predictions that are right
//   consensus distance sqrt((1/n) sum of |x_i - xbar|^2)
//   relative error     (1/n) sum of |x_i - x*|^2 / |x*|^2, if the minimum x* is known
//
// By iterations, it scores the models that each worker has after exactly k steps, at the time when
// the last present worker has taken them (workers that were away then have none). Where workers
// need not take equally many steps, it scores the models as they are when all of them together have
// computed k gradients per worker. By time, it scores the models as they are then.
//
// The first evaluation is at the start. The last is of the final models: those that the workers or
// the server hold when the run ends. Evaluating takes no simulated time.
//
// A run diverges, and is ended, if its loss is not finite or exceeds a million times (1 + the loss
// at the start). A run that reaches its stop target also ends.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "analysis/measures/device_use.hpp"
#include "models/problem.hpp"
#include "models/tensors/vector.hpp"
#include "sim/engine/simulation.hpp"
#include "sim/network/network_part.hpp"

namespace paceline {

class Cluster;

struct Evaluation {
    double sim_time_s = 0;
    double iteration = 0;  // steps taken, mean over workers
    double train_loss = 0;
    double test_loss = 0;
    std::optional<double> test_accuracy;  // empty for regression
    double consensus_distance = 0;
    std::optional<double> relative_error;  // for linear regression
    double bytes_sent_per_node = 0;        // since the start
};

/// When to evaluate between the start and the end; both 0: never.
struct Cadence {
    std::int64_t iterations = 0;
    Duration time{};
};

/// All given conditions must hold.
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
    Target measured;                           // the time when it is first reached is recorded
    Target stop;                               // ends the run
    std::optional<std::int64_t> steps;         // of each worker in the run, if known beforehand
    int nodes = 1;                             // machines
    std::optional<Eigen::VectorXd> minimum{};  // x*
    std::function<void(const Evaluation&)> evaluated{};  // called after each evaluation
};

class TrainingLog {
  public:
    /// A run has diverged if a loss exceeds this many times (1 + the loss at the start).
    static constexpr double most_growth = 1e6;

    /// Requires that all arguments outlive the log.
    TrainingLog(Simulation& simulation, NetworkPart network, Problem& problem,
                TrainingLogOptions options);
    TrainingLog(const TrainingLog&) = delete;
    TrainingLog& operator=(const TrainingLog&) = delete;

    /// Starts the log; call once, before the run.
    void watch(const Cluster& cluster);
    /// Callback for Job::after_steps.
    void after_steps(int rank, std::int64_t k);
    /// The same for a job that counts the gradients of all workers together.
    void after_gradients(int rank, std::int64_t k);
    /// Callback for Job::after_death: evaluations no longer wait for a worker that has left.
    void after_death();
    /// Evaluates the final models, unless that has been done. Call once, after the run.
    void finish();

    [[nodiscard]] const std::vector<Evaluation>& evaluations() const { return evaluations_; }
    [[nodiscard]] bool stopped_at_target() const { return stopped_at_target_; }
    [[nodiscard]] bool diverged() const { return diverged_; }
    /// Returns whether the run was ended here, at a target or because its loss is no number any
    /// more.
    [[nodiscard]] bool has_ended_the_run() const { return stopped_at_target_ || diverged_; }
    /// Returns when the measured target first held.
    [[nodiscard]] std::optional<double> time_to_target_s() const { return time_to_target_s_; }
    /// Returns what the machines had done by then.
    [[nodiscard]] const std::optional<DeviceUse>& use_at_target() const { return use_at_target_; }
    /// Returns the accuracies of the current models; empty for regression.
    [[nodiscard]] std::optional<LocalAccuracy> local_accuracy();

  private:
    // The models after k steps, from the workers that have taken them.
    struct Snapshot {
        std::vector<std::optional<Vector>> models;
        int there = 0;
    };

    [[nodiscard]] bool is_due(std::int64_t k) const;
    [[nodiscard]] bool awaits(int rank, std::int64_t k) const;
    void evaluate_if_whole(std::int64_t k);
    [[nodiscard]] std::vector<Vector> models_now() const;
    [[nodiscard]] double gradients_per_worker() const;
    void evaluate_now();
    void evaluate_by_time(std::uint32_t unused);
    void evaluate(const std::vector<Vector>& models, double iteration);
    void judge(const Evaluation& evaluation);

    Simulation& simulation_;
    NetworkPart network_;
    Problem& problem_;
    TrainingLogOptions options_;
    const Cluster* cluster_ = nullptr;
    std::map<std::int64_t, Snapshot> snapshots_;  // incomplete, by k
    std::vector<std::int64_t> gradients_;         // of each worker, when last seen
    std::int64_t all_gradients_ = 0;              // their sum
    std::int64_t next_evaluation_ = 0;            // by the sum of gradients
    bool last_is_of_now_ = false;  // whether the last evaluation scored the models as they were
    std::vector<Evaluation> evaluations_;
    std::optional<double> time_to_target_s_;
    std::optional<DeviceUse> use_at_target_;
    bool stopped_at_target_ = false;
    bool diverged_ = false;
};

}  // namespace paceline
