// A training job on a simulated network, with one Worker for each of its workers and servers.
//
// The cluster owns the state that the workers share, and each worker's own state. Declare it before
// the Processes that run the workers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/lives/checkpoint.hpp"
#include "algorithms/lives/failures.hpp"
#include "algorithms/lives/membership.hpp"
#include "algorithms/rounds/sparse_round.hpp"
#include "algorithms/runtime/job.hpp"
#include "algorithms/runtime/shared_state.hpp"
#include "algorithms/runtime/worker.hpp"
#include "sim/engine/task.hpp"
#include "sim/network/network_part.hpp"

namespace paceline {

/// What a job holds at a moment besides models and the state of algorithms, counted. Each count is
/// bounded by the number of workers, however long the job has run.
struct Held {
    std::size_t letters = 0;   // under way, or in a worker's box
    std::size_t vectors = 0;   // sent to a worker or to neighbors, and not yet taken
    std::size_t rounds = 0;    // of collectives in progress, with their attempts; common orders
    std::size_t accounts = 0;  // of time: rounds, parts in them and computations in progress
    std::size_t groups = 0;    // lists of workers that have collectives of their own
    std::size_t services = 0;  // processes
};

class Cluster {
  public:
    /// Uses the first hosts of `network`: workers first, then servers. Requires that the job is
    /// complete and that there is a host for each of them.
    Cluster(NetworkPart network, Job job);
    Cluster(const Cluster&) = delete;
    Cluster& operator=(const Cluster&) = delete;

    [[nodiscard]] int workers() const { return state_.workers; }
    [[nodiscard]] Worker& worker(int rank) { return workers_[static_cast<std::size_t>(rank)]; }
    [[nodiscard]] const Worker& worker(int rank) const {
        return workers_[static_cast<std::size_t>(rank)];
    }
    /// A server has a rank after the workers, a model and boxes. It takes part in no collective.
    [[nodiscard]] Worker& server(int i) { return worker(workers() + i); }

    /// Adds a service of a worker or server. It runs beside the workers, does not keep the run
    /// alive, and may still be waiting when the run ends.
    void serve(int rank, std::string name, Task<> work) {
        state_.serve(rank, std::move(name), std::move(work));
    }

    /// Returns how a worker has spent its time.
    [[nodiscard]] const TimeUse& time_use(int rank) const { return state_.accounts.of(rank); }
    /// Returns whom the workers tell what they do.
    [[nodiscard]] const WorkerObserver& observer() const { return state_.observer(); }

    /// Returns the measured density of the sparse exchanges so far.
    [[nodiscard]] MeasuredDensity measured_density() const { return state_.mean_density(); }
    /// Returns how many coordinates all workers have decoded wrongly; empty if no decoding that can
    /// fail was used.
    [[nodiscard]] std::optional<std::int64_t> decode_failures() const {
        return state_.decode_failures;
    }

    [[nodiscard]] Held held() const;

    // --- failures; the caller destroys and starts the workers' processes (worker_processes.hpp) ---

    [[nodiscard]] bool fails() const { return state_.job.failures.has_value(); }
    [[nodiscard]] const std::optional<Failures>& failures() const { return state_.job.failures; }
    [[nodiscard]] bool present(int rank) const { return state_.present(rank); }
    /// Returns how many steps somebody has begun: a step begins when the one before it is done.
    [[nodiscard]] std::int64_t steps_begun() const { return state_.steps_decided; }
    /// Returns whether the stop rule has said that no more steps begin.
    [[nodiscard]] bool has_no_more_steps() const { return state_.stop_decided; }
    /// Null unless workers go on without absent ones.
    [[nodiscard]] Membership* membership() const { return state_.membership.get(); }
    /// Records that a worker has left and its process has been destroyed.
    void mark_away(int rank);
    /// Records that a worker is back. It takes part from the next step on, reported by `on_join`.
    void mark_returned(int rank);
    /// Sets the function that is called when a worker that was away joins.
    void on_join(std::function<void(int rank, int first)> function) {
        state_.on_join = std::move(function);
    }
    /// Restores the last checkpoint. Requires that all workers' processes have been destroyed.
    void roll_back();
    [[nodiscard]] const Checkpoint& checkpoint() const { return state_.checkpoint; }
    /// Returns the bytes of a model sent to a returning worker.
    [[nodiscard]] Bytes weight_of_a_model() const;
    /// Return the means of the values that workers have counted; empty if they counted none.
    [[nodiscard]] std::optional<double> staleness() const { return state_.staleness.value(); }
    [[nodiscard]] std::optional<double> participation() const {
        return state_.participation.value();
    }
    /// Returns how many clients were asked in each round; nothing was added without rounds.
    [[nodiscard]] const RunningMean& clients() const { return state_.clients; }
    /// Returns what all workers have sent and received until the end of the last of these rounds.
    [[nodiscard]] const Traffic& traffic_of_rounds() const { return state_.traffic_of_rounds; }

  private:
    std::deque<Worker> workers_;  // declared first: services, which state_ owns, refer to them
    SharedState state_;
};

}  // namespace paceline
