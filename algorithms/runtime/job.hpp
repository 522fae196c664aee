// A training job: what its workers train, how long they compute, and when they stop.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include <Eigen/Core>

#include "algorithms/lives/failures.hpp"
#include "algorithms/runtime/wire_format.hpp"
#include "algorithms/timing/step_timing.hpp"
#include "models/tensors/vector.hpp"
#include "sim/collectives/library.hpp"
#include "sim/compute/compute_time.hpp"
#include "sim/engine/event_queue.hpp"
#include "topologies/mixing/mixing_schedule.hpp"

namespace paceline {

struct WorkerObserver;

/// Returns the stochastic gradient of worker `rank` at `x` in its k-th step, k = 0, 1, ...; null in
/// timing-only runs. Several threads call it at once, for different workers.
using Objective = std::function<Eigen::VectorXd(const Vector& x, int rank, std::int64_t k)>;

/// Returns the mean over all workers of their k-th gradients at one x.
using MeanObjective = std::function<Eigen::VectorXd(const Vector& x, std::int64_t k)>;

/// Called when a worker has taken k steps, k = 0, 1, ..., before it learns whether to take another.
using StepObserver = std::function<void(int rank, std::int64_t k)>;

/// Returns whether step k is to be taken. Called once for each k, in order, until it returns false.
using StopRule = std::function<bool(std::int64_t k)>;

struct Job {
    Vector start;                    // the initial model, with values if the run trains
    StepTiming timing{};             // of one gradient, the same on all workers
    ComputeTime compute_time{};      // of a gradient on each node; null: the nominal time
    Duration update{};               // of the optimizer, after each gradient exchange
    int workers = 0;                 // on hosts 0, 1, ...; 0: one on every host
    int servers = 0;                 // on the hosts after those of the workers
    int collective_servers = 0;      // on the hosts after those; they act in collectives only
    WireFormat wire = fp32;          // of dense vectors
    Library library{};               // that carries out its collectives
    StopRule takes_step{};           // required
    bool steps_are_counted = false;  // whether takes_step or `gradients` ends the job
    // For methods whose workers need not take equally many steps: what all workers may begin
    // together, one in each step. A gradient that dies with its worker counts. Empty: no limit.
    std::optional<std::int64_t> gradients{};
    Objective objective{};           // required if and only if `start` has values
    MeanObjective mean_objective{};  // null: averages `objective` over the workers
    LayoutPtr charged{};             // layout that messages are charged as; null: that of `start`
    StepObserver after_steps{};
    MixingSchedule mixing{};  // for decentralized algorithms
    // Of step k; if `gradients` is given, k is the number begun by all, per worker.
    std::function<double(std::int64_t k)> learning_rate = [](std::int64_t) { return 0.1; };
    double steps_per_epoch = 0;  // 0: unknown
    std::uint64_t seed = 1;
    EventKind kind = EventKind::foreground;  // a daemon does not keep the run alive
    std::vector<double> samples{};           // per worker; empty: unknown and taken as equal
    std::optional<Failures> failures{};
    std::function<void()> after_death{};       // called after a worker has left
    const WorkerObserver* observer = nullptr;  // must outlive the cluster
};

}  // namespace paceline
