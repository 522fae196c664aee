// The lives of a job's nodes: who is present, when the others know of a death, who joins at which
// step, and what a restart goes back to.
//
// A life of a worker ends with its death and the next begins when it joins again. If the job's
// nodes do not fail, or if every death restarts all of them, each worker has one life, number 0,
// and is always present. So are servers.
//
// The workers of a domain (failure_domains.hpp) leave and join together. Those who go on exchange
// in circles, which have members in several domains: everybody, or the devices in one place of all
// islands. A group within an island lives and dies with it, so its collectives are plain ones.
//
// Worker processes are destroyed and started by others (worker_processes.hpp), who tell it here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "algorithms/lives/checkpoint.hpp"
#include "algorithms/lives/failure_domains.hpp"
#include "algorithms/lives/failures.hpp"
#include "algorithms/lives/membership.hpp"
#include "algorithms/lives/worker_state.hpp"
#include "algorithms/rounds/groups.hpp"
#include "algorithms/rounds/replicated_state.hpp"
#include "sim/collectives/rank.hpp"
#include "sim/engine/barrier.hpp"
#include "sim/engine/task.hpp"
#include "sim/engine/units.hpp"
#include "sim/network/network_part.hpp"

namespace paceline {

class Lives {
  public:
    /// `states` are those of workers and servers. Requires that they and `failures` outlive this
    /// object. `close` is called with each attempt at a round that has ended (membership.hpp).
    Lives(NetworkPart network, const std::optional<Failures>& failures, Groups& groups,
          WorkerStates& states, CloseAttempt close);
    Lives(const Lives&) = delete;
    Lives& operator=(const Lives&) = delete;

    // --- what an algorithm may ask ---

    /// Returns whether a worker is present. Letters posted to an absent worker are lost.
    [[nodiscard]] bool present(int rank) const {
        return !membership_ || is_server(rank) || membership_->present(rank);
    }
    /// Returns the workers that are present, in order. All that ask at the same instant get the
    /// same list.
    [[nodiscard]] std::vector<int> all_present() const;
    /// Returns whether nodes of this job fail on their own; false if every death restarts all
    /// nodes.
    [[nodiscard]] bool others_fail() const { return membership_ != nullptr; }
    /// Returns the number of a worker's life, which grows when the worker returns. Requests made to
    /// an earlier life are lost.
    [[nodiscard]] int life(int rank) const {
        return membership_ && !is_server(rank) ? membership_->life(rank) : 0;
    }
    /// Returns the step with which a worker's present life began; 0 if it has always been present.
    [[nodiscard]] std::int64_t first_step(int rank) const { return state(rank).first_step; }
    /// Returns whether it is known by now that a life of a worker has ended.
    [[nodiscard]] bool is_known_dead(int rank, int life) const;
    /// Waits until it is known that the present life of a worker has ended. Requires others_fail().
    [[nodiscard]] Task<> death_detected(int rank) const;
    /// Returns how often the barrier has opened since the beginning, or since the last restart.
    [[nodiscard]] unsigned barriers_passed() const {
        return barrier_.times_opened() - barriers_before_restart_;
    }

    // --- steps and rounds ---

    /// Returns the barrier of all workers and servers that are present.
    [[nodiscard]] Barrier& barrier() { return barrier_; }
    /// Null unless workers go on without absent ones.
    [[nodiscard]] Membership* membership() const { return membership_.get(); }
    /// Returns the group in which a worker exchanges with other domains: everybody, or the lane of
    /// a device (runtime/island.hpp); null if it has none.
    [[nodiscard]] const GroupPtr& circle(int rank) const {
        return circles_.empty() ? everybody_ : circles_[static_cast<std::size_t>(rank)];
    }
    /// Returns whether all members of a group are devices of one island, which die together.
    [[nodiscard]] bool is_inside_an_island(const Group& group) const;
    /// Lets workers that are back join at step k, in the rounds that `like`, the first worker to
    /// begin k, begins next.
    void admit(std::int64_t k, const WorkerState& like);
    /// Saves the state of a worker that begins a step if a checkpoint of that step is being
    /// written. The `first` worker to begin the step begins a checkpoint that is due.
    void save(WorkerState& worker, bool first, const ReplicatedState& replicated);
    /// Notes that a worker has written its part of the checkpoint.
    void note_written(int rank) { checkpoints_->note_written(rank); }

    // --- deaths and returns ---

    [[nodiscard]] const std::optional<Failures>& failures() const { return failures_; }
    /// Returns the last checkpoint. Requires failures().
    [[nodiscard]] const Checkpoint& checkpoint() const { return checkpoints_->last(); }
    [[nodiscard]] const FailureDomains& domains() const { return domains_; }
    /// Notes that a domain has left and its workers' processes have been destroyed. Requires
    /// others_fail().
    void leave(int domain);
    /// Notes that a domain is back. It takes part from the next step on, reported by `on_join`.
    void come_back(int domain);
    /// Called when a domain that was away joins, at a step that the worker `first` has begun.
    std::function<void(int domain, int first)> on_join{};
    /// Goes back to the last checkpoint. Requires that all processes have been destroyed.
    void go_back();

  private:
    [[nodiscard]] WorkerState& state(int rank) const {
        return states_[static_cast<std::size_t>(rank)];
    }
    [[nodiscard]] int workers() const { return static_cast<int>(everybody_->members.size()); }
    [[nodiscard]] bool is_server(int rank) const { return rank >= workers(); }
    [[nodiscard]] Time now() const { return network_.simulation().now(); }
    void make_lanes(Groups& groups);
    void expect_at_barrier();
    void lose_work_of(int domain);
    void begin_life(WorkerState& back) const;
    void count_as(WorkerState& back, const WorkerState& like) const;
    void repeat_step_if_none_present();

    NetworkPart network_;
    const std::optional<Failures>& failures_;
    WorkerStates& states_;
    FailureDomains domains_;  // of no workers, unless nodes fail
    GroupPtr everybody_;
    // In which a worker exchanges with other domains; null: none. Empty: all are everybody.
    std::vector<GroupPtr> circles_{};
    Barrier barrier_;
    unsigned barriers_before_restart_ = 0;  // how often it had opened at the last restart
    std::unique_ptr<Membership> membership_{};
    std::optional<CheckpointWriter> checkpoints_{};  // only if nodes fail
};

}  // namespace paceline
