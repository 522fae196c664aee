// A training job on a simulated network, with one Worker for each of its workers and servers.
//
// The cluster owns the state that the workers share, and each worker's own state. Declare it before
// the Processes that run the workers.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/lives/lives.hpp"
#include "algorithms/lives/worker_state.hpp"
#include "algorithms/runtime/job.hpp"
#include "algorithms/runtime/method_metrics.hpp"
#include "algorithms/runtime/shared_state.hpp"
#include "algorithms/runtime/steps.hpp"
#include "algorithms/runtime/time_use.hpp"
#include "algorithms/runtime/worker.hpp"
#include "sim/engine/task.hpp"
#include "sim/network/network_part.hpp"

namespace paceline {

/// What a job holds at a moment besides models and the state of algorithms, counted. Each count is
/// bounded by the number of workers, however long the job has run.
struct Held {
    std::size_t letters = 0;   // under way, or in a worker's box
    std::size_t vectors = 0;   // sent to neighbors, and not yet taken
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

    /// Returns the progress and the counters of a worker or server.
    [[nodiscard]] const WorkerState& state(int rank) const {
        return state_.states[static_cast<std::size_t>(rank)];
    }
    /// Returns how a worker has spent its time.
    [[nodiscard]] const TimeUse& time_use(int rank) const { return state_.accounts.of(rank); }
    /// Returns whom the workers tell what they do.
    [[nodiscard]] const WorkerObserver& observer() const { return state_.observer(); }
    [[nodiscard]] const MethodMetrics& metrics() const { return state_.metrics; }
    [[nodiscard]] const Steps& steps() const { return state_.steps; }
    [[nodiscard]] Lives& lives() { return state_.lives; }
    [[nodiscard]] const Lives& lives() const { return state_.lives; }
    [[nodiscard]] Held held() const;

    // --- failures; the caller destroys and starts the workers' processes (worker_processes.hpp)
    // ---

    /// Records that a domain (failure_domains.hpp) has left and its workers' processes have been
    /// destroyed.
    void mark_away(int domain);
    /// Restores the last checkpoint. Requires that all workers' processes have been destroyed.
    void roll_back();
    /// Returns the bytes of a model sent to a returning worker.
    [[nodiscard]] Bytes weight_of_a_model() const;

  private:
    std::deque<Worker> workers_;  // declared first: services, which state_ owns, refer to them
    SharedState state_;
};

}  // namespace paceline
