// What the workers of a job share: the network, the stop rule, replicas that are kept equal, the
// data plane of collectives, messages in flight, membership and checkpoints.
//
// Workers (worker.hpp) are views of this and of their own state. The cluster (cluster.hpp) owns it.
// Algorithms see neither.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/lives/checkpoint.hpp"
#include "algorithms/lives/membership.hpp"
#include "algorithms/rounds/common_order.hpp"
#include "algorithms/rounds/rounds.hpp"
#include "algorithms/rounds/sparse_round.hpp"
#include "algorithms/runtime/collectives.hpp"
#include "algorithms/runtime/job.hpp"
#include "algorithms/runtime/letter.hpp"
#include "algorithms/runtime/local_work.hpp"
#include "algorithms/runtime/running_mean.hpp"
#include "algorithms/runtime/time_use.hpp"
#include "algorithms/runtime/worker_state.hpp"
#include "models/tensors/layout_parts.hpp"
#include "models/tensors/vector.hpp"
#include "sim/collectives/rank.hpp"
#include "sim/engine/barrier.hpp"
#include "sim/engine/processes.hpp"
#include "sim/engine/random.hpp"
#include "sim/network/network_part.hpp"
#include "topologies/mixing/mixing_schedule.hpp"

namespace paceline {

/// Returns the lane (stream) of letters to a box.
[[nodiscard]] constexpr Stream lane_of_box(int box) {
    return 1 + static_cast<Stream>(box);
}

struct SharedState {
    /// Requires that the job is complete and that there is a host for each worker and server.
    SharedState(NetworkPart part, Job work);
    SharedState(const SharedState&) = delete;
    SharedState& operator=(const SharedState&) = delete;

    [[nodiscard]] Simulation& simulation() const { return network.simulation(); }
    /// Returns whom the workers tell what they do.
    [[nodiscard]] const WorkerObserver& observer() const { return accounts.observer(); }
    /// Returns the number of a worker's host in the whole network.
    [[nodiscard]] int host(int rank) const { return network.in_network(rank); }
    /// Returns the state of a worker, or of a server if the rank is `workers` or more.
    [[nodiscard]] WorkerState& worker(int rank) { return states[static_cast<std::size_t>(rank)]; }
    [[nodiscard]] bool present(int rank) const {
        return !membership || rank >= workers || membership->present(rank);
    }
    [[nodiscard]] std::vector<int> all_present() const;
    /// Returns the number of a worker's life; 0 if the job's nodes do not fail on their own.
    [[nodiscard]] int life_of(int rank) const;
    /// Returns the group of these members on a channel; each list of members has one group on each
    /// channel.
    [[nodiscard]] GroupPtr group(std::vector<int> members, int channel = 0);
    /// Returns the order of this worker's next call on a channel (Worker::common_order).
    [[nodiscard]] std::shared_ptr<CommonOrder> common_order(WorkerState& worker, int channel);

    /// Returns the weight of v on the wire; the whole model weighs as the job's charged layout.
    [[nodiscard]] Bytes weigh(const Vector& v) const;
    /// Returns W of the step that a worker is in. Requires a mixing.
    [[nodiscard]] MixingPtr mixing_of(const WorkerState& worker) const;

    /// Returns false once all gradients that the job allows have begun.
    [[nodiscard]] bool gradients_left() const {
        return !job.gradients || gradients_begun < *job.gradients;
    }

    /// Adds a service of a worker or server (Cluster::serve).
    void serve(int rank, std::string name, Task<> work);
    /// Delivers a letter when the next message of its lane arrives.
    void expect_letter(int from, int to, int box, Letter letter);
    /// Forgets the letters from a worker and to it that are under way.
    void forget_letters_of(int rank);

    /// Closes the streams of an attempt that nobody takes part in any more.
    void close_attempt(const Group& group, Stream stream) const;
    void note_density(SparseRound& round);
    [[nodiscard]] MeasuredDensity mean_density() const;

    /// A letter that waits for its message.
    struct LetterUnderWay {
        int from;
        int to;
        std::optional<Pending<>> delivery{};
    };
    using Letters = std::list<LetterUnderWay>;

    NetworkPart network;
    Job job;
    int workers;  // without servers
    RandomStreams streams;
    std::map<std::pair<std::vector<int>, int>, GroupPtr>
        groups{};  // by members and channel; epochs
                   // count up
    GroupPtr everybody;
    LayoutParts layouts{};
    std::deque<WorkerState> states{};  // and servers, by rank

    // Steps and replicated state.
    std::int64_t steps_decided = 0;
    std::int64_t gradients_begun = 0;  // counted if the job limits them
    int newest_beginner = 0;           // rank that began the newest step
    bool stop_decided = false;
    std::int64_t updates_done = 0;
    std::map<std::string, Vector, std::less<>> replicated{};

    // Values: of computations, of rounds in progress, and of messages in flight.
    LocalWork local_work{};
    Rounds<Vector> rounds{};
    Rounds<MixingPtr> mixings{};  // W of the rounds in progress, by their stream
    std::map<Stream, SparseRound> sparse_rounds{};
    std::map<std::pair<int, int>, std::deque<Vector>> mail{};  // by (from, to)

    // Orders for which some workers have not asked yet.
    struct AskedOrder {
        std::shared_ptr<CommonOrder> order = std::make_shared<CommonOrder>();
        int workers = 0;  // that have asked
    };
    std::map<std::pair<int, std::int64_t>, AskedOrder> orders{};  // by channel and number

    // Metrics.
    TimeAccounts accounts;
    MeasuredDensity density_sums{};
    std::optional<std::int64_t> decode_failures{};
    RunningMean staleness{};
    RunningMean participation{};
    RunningMean clients{};        // asked in a round
    Traffic traffic_of_rounds{};  // of all workers, until the end of the last of these rounds

    // Failures.
    Barrier barrier;                           // for all workers and servers
    unsigned barriers_before_restart = 0;      // how often it had opened at the last restart
    std::unique_ptr<Membership> membership{};  // null unless workers go on without absent ones
    /// Called when a worker that was away joins, at a step that the worker `first` has begun.
    std::function<void(int rank, int first)> on_join{};
    Checkpoint checkpoint{};  // the last one that all have written
    std::optional<CheckpointUnderWay> writing{};
    Time checkpoint_begun{};

    std::unique_ptr<Collectives> collectives{};  // made by the cluster

    // Coroutine frames that refer to the members above, so they are destroyed first.
    // Letters belong to no worker's process, because they outlive it. Nobody waits in them.
    ProcessPtr letter_process = make_process("letters", EventKind::daemon);
    Letters letters{};    // under way
    Letters delivered{};  // their coroutines have ended; erased when the next letter is posted
    std::map<int, Processes> services{};  // by rank
};

}  // namespace paceline
