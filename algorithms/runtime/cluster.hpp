// A training job on a simulated network: the state that its workers share.
//
// The cluster owns the workers and everything that exists once: the stop rule, replicas that are
// kept equal, and the data plane of collectives. Declare it before the Processes that run the
// workers.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <Eigen/Core>

#include "algorithms/runtime/checkpoint.hpp"
#include "algorithms/runtime/failures.hpp"
#include "algorithms/runtime/letter.hpp"
#include "algorithms/runtime/local_work.hpp"
#include "algorithms/runtime/membership.hpp"
#include "algorithms/runtime/observer.hpp"
#include "algorithms/runtime/rounds.hpp"
#include "algorithms/runtime/sparse_round.hpp"
#include "algorithms/runtime/step_timing.hpp"
#include "algorithms/runtime/time_use.hpp"
#include "algorithms/runtime/wire_format.hpp"
#include "models/tensors/vector.hpp"
#include "sim/collectives/rank.hpp"
#include "sim/compute/compute_time.hpp"
#include "sim/engine/barrier.hpp"
#include "sim/engine/processes.hpp"
#include "sim/engine/random.hpp"
#include "sim/network/network_part.hpp"
#include "topologies/mixing/schedule.hpp"

namespace paceline {

class Worker;

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
    WireFormat wire = fp32;          // of dense vectors
    StopRule takes_step{};           // required
    Objective objective{};           // required if and only if `start` has values
    MeanObjective mean_objective{};  // null: averages `objective` over the workers
    LayoutPtr charged{};             // layout that messages are charged as; null: that of `start`
    StepObserver after_steps{};
    MixingSchedule mixing{};  // for decentralized algorithms
    std::function<double(std::int64_t k)> learning_rate = [](std::int64_t) { return 0.1; };
    double steps_per_epoch = 0;  // 0: unknown
    std::uint64_t seed = 1;
    EventKind kind = EventKind::foreground;  // a daemon does not keep the run alive
    std::vector<double> samples{};           // per worker; empty: unknown and taken as equal
    std::optional<Failures> failures{};
    std::function<void()> after_death{};       // called after a worker has left
    const WorkerObserver* observer = nullptr;  // must outlive the cluster
};

class Cluster {
  public:
    /// Uses the first hosts of `network`: workers first, then servers. Requires that the job is
    /// complete and that there is a host for each of them.
    Cluster(NetworkPart network, Job job);
    Cluster(const Cluster&) = delete;
    Cluster& operator=(const Cluster&) = delete;
    ~Cluster();

    [[nodiscard]] int nodes() const { return nodes_; }
    [[nodiscard]] Worker& worker(int rank);
    [[nodiscard]] const Worker& worker(int rank) const;
    /// A server has a rank after the workers, a model and boxes. It takes part in no collective.
    [[nodiscard]] Worker& server(int i) { return worker(nodes_ + i); }

    /// Adds a service of a worker or server. It runs beside the workers, does not keep the run
    /// alive, and may still be waiting when the run ends.
    void serve(int rank, std::string name, Task<> work);

    /// Returns the measured density of the sparse exchanges so far.
    [[nodiscard]] MeasuredDensity measured_density() const;
    /// Returns how many coordinates all workers have decoded wrongly; empty if no decoding that can
    /// fail was used.
    [[nodiscard]] std::optional<std::int64_t> decode_failures() const { return decode_failures_; }

    // --- failures; the caller destroys and starts the workers' processes (worker_processes.hpp) ---

    [[nodiscard]] bool fails() const { return job_.failures.has_value(); }
    [[nodiscard]] const std::optional<Failures>& failures() const { return job_.failures; }
    [[nodiscard]] bool present(int rank) const {
        return !membership_ || rank >= nodes_ || membership_->present(rank);
    }
    [[nodiscard]] std::vector<int> all_present() const;
    /// Returns whether the stop rule has said that no more steps begin.
    [[nodiscard]] bool has_no_more_steps() const { return stop_decided_; }
    /// Null unless workers go on without absent ones.
    [[nodiscard]] Membership* membership() { return membership_.get(); }
    /// Records that a worker has died and its process has been destroyed.
    void leave(int rank);
    /// Records that a worker is back. It takes part from the next step on, reported by `on_join`.
    void mark_returned(int rank);
    std::function<void(int rank)> on_join{};
    /// Restores the last checkpoint. Requires that all workers' processes have been destroyed.
    void roll_back();
    [[nodiscard]] const Checkpoint& checkpoint() const { return checkpoint_; }
    /// Returns the bytes of a model sent to a returning worker.
    [[nodiscard]] Bytes weight_of_a_model() const;
    /// Return the means of the values that workers have counted; empty if they counted none.
    [[nodiscard]] std::optional<double> staleness() const { return staleness_.value(); }
    [[nodiscard]] std::optional<double> participation() const { return participation_.value(); }

  private:
    friend class Worker;
    friend class Backward;

    [[nodiscard]] bool takes_step(std::int64_t k, const Worker& asking);
    void repeat_step_if_none_present();
    void admit_ready_workers(std::int64_t k, const Worker& like);
    void save_for_checkpoint(Worker& worker);
    void mark_written(int rank);
    void forget_letters_of(int rank);
    void note_density(SparseRound& round);
    [[nodiscard]] GroupPtr group(std::vector<int> members);
    void expect_letter(int from, int to, int box, Letter letter);
    Task<> deliver(int to, int box, int life, Letter letter);
    [[nodiscard]] int life_of(int rank) const;
    void expect_at_barrier();

    struct LetterUnderWay {
        int from;
        Pending<> delivery;
    };

    NetworkPart network_;
    Job job_;
    int nodes_;
    RandomStreams streams_;
    std::map<std::vector<int>, GroupPtr> groups_;  // by members; epochs count up
    GroupPtr everybody_;
    std::deque<Worker> workers_;
    std::map<std::string, Vector, std::less<>> replicated_;
    LocalWork local_work_;
    Rounds<Vector> rounds_;
    Rounds<MixingPtr> mixings_;  // W of the rounds in flight, by their stream
    std::map<std::pair<int, int>, std::deque<Vector>> mail_;  // values in flight, by (from, to)
    std::int64_t steps_decided_ = 0;
    int newest_beginner_ = 0;  // rank that began the newest step
    bool stop_decided_ = false;
    std::int64_t updates_done_ = 0;
    std::map<Stream, SparseRound> sparse_rounds_;
    MeasuredDensity density_sums_;
    std::optional<std::int64_t> decode_failures_;
    RoundEntries entries_;  // of the rounds in flight
    MeanOf staleness_;
    MeanOf participation_;
    Barrier barrier_;                         // for all workers and servers
    unsigned barriers_before_restart_ = 0;    // before the last restart
    std::unique_ptr<Membership> membership_;  // only where workers go on without absent ones
    Checkpoint checkpoint_;                   // the last one that all have written
    std::optional<CheckpointUnderWay> writing_;
    Time checkpoint_begun_{};
    // Coroutine frames that refer to the members above, so they are destroyed first.
    std::list<LetterUnderWay> letters_;  // in flight; some may have arrived
    std::map<int, Processes> services_;  // by rank
};

}  // namespace paceline
