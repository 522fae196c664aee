// Accounts for how each worker spends its time: computing, or waiting, by cause.
//
// It is an observer (worker_observer.hpp): the workers tell it what they do, and it changes
// nothing. The time of a run is divided, for each worker, into
//
//   computing         gradients, updates, coding; also those that the end of the run cuts short
//   stragglers        waiting for workers that had not come yet:
//                     - in a round of a collective that it enters at t and leaves at e, with T the
//                       time at which the last member that it depends on has entered (all of its
//                       group, or those it listens to): what it is idle of [t, min(T, e)]. T counts
//                       as e if not all have entered by then (trees).
//                     - at a barrier (Worker::barrier)
//                     - until the run ends, because others still work: from its last step on, or
//                       from the end of what it has computed since, of its last round of a group,
//                       or of its last wait
//   dead              from the death of another worker until the work that it broke begins again
//   away              while it was away itself
//   checkpoints       writing them
//   network           the rest: messages of rounds, letters and answers, and the remainder of a
//                     round that a limit cut short
//
// A worker is idle when its device neither computes nor writes a checkpoint. It may compute at any
// time within a round, as when it codes a piece while another travels on another stream. Rounds may
// overlap; no instant is counted as two waits. So the parts add up to the time of the run:
//
//   computing + stragglers + dead + away + checkpoints + network = run
//
// Cost: two lookups in a small map per round and worker, and a few spans of time for each worker:
// those in which it has been busy or has waited since its oldest round in progress began. The
// entries of a round are erased when all of its members have left it, or when it is closed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include <boost/container/small_vector.hpp>

#include "algorithms/runtime/worker_observer.hpp"
#include "sim/engine/simulation.hpp"
#include "sim/network/network_observer.hpp"

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

    struct Span {
        Time begin;
        Time end;
    };

    void change_under_way(int by);
    /// Notes that the device begins or ceases to do something.
    void change_busy(int by);
    /// Notes that a round or a wait begins, and that one which began at `begun` is over.
    void begin_part();
    void end_part(Time begun);
    /// Notes that a round of a group begins or ends.
    void change_rounds(int by);
    /// Counts what the worker was idle of a span as a wait for stragglers or for the dead, except
    /// what has been counted before. Returns what it has counted. Requires that a round or a wait
    /// in progress began at or before the span.
    std::vector<Span> count_idle(WaitFor what, Span span);
    void end_steps();

    const Simulation* simulation_;
    int under_way_ = 0;  // computations in progress
    int busy_ = 0;       // computations and checkpoints in progress
    int rounds_ = 0;     // of groups, in progress
    bool steps_ended_ = false;
    Duration computed_{};
    Time counted_until_{};  // computations are counted up to here
    Time busy_since_{};
    boost::container::small_vector<Time, 1> parts_{};  // when rounds and waits in progress began
    std::vector<Span> used_{};  // busy or counted as waiting, in order, since the first of these
    Duration stragglers_{};
    Time waited_until_{};  // the end of the last wait that is counted
    Time active_until_{};  // when it last ended its steps, a computation or a round of a group
    Duration dead_{};
    Duration away_{};
    Duration writing_{};
};

/// The observer of all workers and servers of a job. Passes everything on to the job's own
/// observer, and tells that one of the waits for stragglers that it finds.
class TimeAccounts {
  public:
    /// Accounts for the hosts from `first_host` on. `next` may be null; it must outlive this
    /// object.
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
    [[nodiscard]] std::size_t parts() const { return parts_; }

  private:
    using Token = WorkerObserver::Token;
    static constexpr Token no_place = ~Token{0};

    /// A computation, a worker's part in a round, or a wait that is in progress.
    struct Open {
        int host = 0;
        WaitFor what{};  // of a wait
        Token next = 0;  // that of the next observer; of a free place, the next free one
        Time begun{};
        Stream stream{};  // of a round, like the next
        std::size_t members = 0;
        const std::vector<int>* on{};

        [[nodiscard]] bool is_of_group() const { return members > 0 && on == nullptr; }
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
    Token open(const Open& what);
    [[nodiscard]] Open close(Token token);
    void enter(const Open& part);
    void leave(const Open& part);
    [[nodiscard]] Time last_entry(const Open& part, const Entries& entries) const;
    void wait_beside_work(int host, WaitFor what, Time from, Time until);
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
    std::vector<Open> open_;            // by token; may have free places
    Token free_ = no_place;             // the first free place
    std::size_t parts_ = 0;             // places that are not free
    std::map<Stream, Entries> rounds_;  // in progress
};

}  // namespace paceline
