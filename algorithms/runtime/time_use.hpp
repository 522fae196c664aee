// Accounts for how each worker spends its time: computing, or waiting, by cause.
//
// It is an observer (observer.hpp): the workers tell it what they do, and it changes nothing. The
// time of a run is divided, for each worker, into
//
//   computing         gradients, updates, coding; also those that the end of the run cuts short
//   stragglers        waiting for workers that had not come yet:
//                     - in a round of a collective that it enters at t and leaves at e, with T the
//                       time at which the last member that it depends on has entered (all of its
//                       group, or those it listens to): min(T, e) - t, less the time it has
//                       computed in the round. T counts as e if not all have entered by then
//                       (trees).
//                     - at a barrier (Worker::barrier), and from its last step on until the
//                       run ends, because others still work
//   dead              from the death of another worker until the work that it broke begins again
//   away              while it was away itself
//   checkpoints       writing them
//   network           the rest: messages of rounds, letters and answers, and the remainder of a
//                     round that a limit cut short
//
// If a worker computes while a round is in progress, we assume that it computes first and waits
// then; the same holds for checkpoints that it writes. This is so for every non-blocking round here.
// Overlapping waits, for stragglers or for the dead, are not counted twice. The waits of one worker
// are intervals, in order of their ends.
//
// Cost: two lookups in a small map per round and worker. The entries of a round are erased when all
// of its members have left it, or when it is closed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "algorithms/runtime/observer.hpp"
#include "sim/engine/simulation.hpp"
#include "sim/network/observer.hpp"

namespace paceline {

/// How one worker has spent its time.
class TimeUse {
  public:
    explicit TimeUse(const Simulation& simulation) : simulation_(&simulation) {}

    /// Returns the time of all computations so far, including those in progress.
    [[nodiscard]] Duration computed() const {
        return computed_ + under_way_ * (simulation_->now() - counted_until_);
    }
    /// Returns the waits for stragglers in a run that ends at `end`.
    [[nodiscard]] Duration waited_for_stragglers(Time end) const;
    [[nodiscard]] Duration waited_for_dead() const { return dead_; }
    [[nodiscard]] Duration away() const { return away_; }
    [[nodiscard]] Duration writing() const { return writing_; }
    /// Returns what remains of a run that ends at `end` after all other categories.
    [[nodiscard]] Duration waited_for_network(Time end) const;

  private:
    friend class TimeAccounts;

    void change_under_way(int by);
    /// Returns the time in which the device did something so far.
    [[nodiscard]] Duration busy() const;
    /// Counts a wait for stragglers or for the dead that ends at `until`, and returns the part of it
    /// that no other such wait has covered.
    Duration add_uncovered(WaitFor what, Duration time, Time until);

    const Simulation* simulation_;
    int under_way_ = 0;  // computations in progress
    Duration computed_{};
    Time counted_until_{};  // computations are counted up to here
    Duration stragglers_{};
    Time waited_until_{};  // waits are counted up to here
    Time last_step_ended_ = never;
    Duration dead_{};
    Duration away_{};
    Duration writing_{};
    Time writing_since_ = never;  // a checkpoint, now
};

/// The observer of all workers and servers of a job. Passes everything on to the job's own
/// observer, and tells that one of the waits for stragglers that it finds.
class TimeAccounts {
  public:
    /// Accounts for the hosts from `first_host` on. `next` may be null; it must outlive this object.
    TimeAccounts(const Simulation& simulation, int first_host, int workers,
                 const WorkerObserver* next);
    TimeAccounts(const TimeAccounts&) = delete;
    TimeAccounts& operator=(const TimeAccounts&) = delete;

    [[nodiscard]] const WorkerObserver& observer() const { return observer_; }
    [[nodiscard]] const TimeUse& of(int rank) const {
        return uses_[static_cast<std::size_t>(rank)];
    }
    /// Returns the number of rounds in progress.
    [[nodiscard]] std::size_t rounds() const { return rounds_.size(); }
    /// Returns the number of computations and of parts in rounds that are in progress.
    [[nodiscard]] std::size_t parts() const { return open_.size() - free_.size(); }

  private:
    using Token = WorkerObserver::Token;

    /// A computation, or a worker's part in a round, that is in progress.
    struct Open {
        int host = 0;
        Token next = 0;  // that of the next observer
        Time begun{};
        Duration busy{};  // of the worker until then
        RoundPart round{};
        WaitFor what{};
    };
    struct Entries {
        std::size_t entered = 0;
        std::size_t left = 0;
        Time last{};
        std::vector<Time> of_member{};  // used where a member depends on some members only
    };

    [[nodiscard]] TimeUse& use(int host) {
        return uses_[static_cast<std::size_t>(host - first_host_)];
    }
    Token open(Open what);
    [[nodiscard]] Open close(Token token);
    void enter(const Open& part);
    void leave(const Open& part);
    [[nodiscard]] Time last_entry(const Open& part, const Entries& entries) const;
    void wait_beside_work(int host, WaitFor what, Duration time, Time until);
    void add_wait(int host, WaitFor what, Time from, Time until);
    void watch_steps();
    void watch_computations();
    void watch_rounds();
    void watch_waits();

    const Simulation& simulation_;
    int first_host_;
    WorkerObserver next_;
    WorkerObserver observer_;
    std::vector<TimeUse> uses_;
    std::vector<Open> open_;  // by token; may have free places
    std::vector<Token> free_;
    std::map<Stream, Entries> rounds_;  // in progress
};

}  // namespace paceline
