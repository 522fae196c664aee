// Accounts for how each worker spends its time: computing, or waiting, by cause.
//
// The time of a run is divided, for each worker, into
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
// then. This holds for every non-blocking round here. Overlapping rounds are not counted twice. The
// waits of one worker are intervals, in order of their ends.
//
// Cost: two lookups in a small map per round and worker. The entries of a round are erased when all
// of its members have left it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "algorithms/runtime/observer.hpp"
#include "sim/engine/simulation.hpp"
#include "sim/network/stream.hpp"

namespace paceline {

/// Records how one worker spends its time.
class TimeUse {
  public:
    /// Records the worker on `host` of the network. Reports to the observer unless it is null.
    explicit TimeUse(const Simulation& simulation, const WorkerObserver* observer = nullptr,
                     int host = 0)
        : simulation_(&simulation), observer_(observer), host_(host) {}

    [[nodiscard]] Time now() const { return simulation_->now(); }

    /// Returns the time of all computations so far, including those in progress.
    [[nodiscard]] Duration computed() const {
        return computed_ + under_way_ * (now() - counted_until_);
    }

    /// Notes a wait, ending at `until`, for workers that had not come yet.
    void wait_for_stragglers(Duration time, Time until);
    /// Notes that the worker takes no more steps.
    void take_no_more_steps();
    /// Notes that the worker begins step k.
    void begin_step(std::int64_t k) const;
    /// Notes that the worker's process has been destroyed.
    void die() const;
    /// Notes that the worker takes steps again.
    void take_steps_again() { last_step_ended_ = never; }
    // Each of these notes a time span that ends now.
    void wait_for_dead(Duration time);
    void be_away(Duration time);
    void write_checkpoint(Duration time);

    /// Returns the waits for stragglers in a run that ends at `end`.
    [[nodiscard]] Duration waited_for_stragglers(Time end) const;
    [[nodiscard]] Duration waited_for_dead() const { return dead_; }
    [[nodiscard]] Duration away() const { return away_; }
    [[nodiscard]] Duration writing() const { return writing_; }
    /// Returns what remains of a run that ends at `end` after all other categories.
    [[nodiscard]] Duration waited_for_network(Time end) const;

  private:
    friend class Computing;
    friend class ReportedRound;

    void report_wait(WaitFor what, Duration time, Time until) const;
    void change_under_way(int by);

    const Simulation* simulation_;
    const WorkerObserver* observer_;
    int host_;
    int under_way_ = 0;  // computations in progress
    Duration computed_{};
    Time counted_until_{};  // computations are counted up to here
    Duration stragglers_{};
    Time waited_until_{};  // waits are counted up to here
    Time last_step_ended_ = never;
    Duration dead_{};
    Duration away_{};
    Duration writing_{};
};

/// RAII guard: counts and reports a computation while it is alive.
class Computing {
  public:
    Computing(TimeUse& of, Work work);
    Computing(const Computing&) = delete;
    Computing& operator=(const Computing&) = delete;
    ~Computing();

    /// Reports that a bucket of a gradient was computed in a span.
    void report_bucket(std::size_t bucket, Time from, Time until) const;

  private:
    TimeUse& of_;
    WorkerObserver::Token token_ = 0;
};

/// RAII guard: reports a round to the observer while it is alive.
class ReportedRound {
  public:
    ReportedRound(const TimeUse& of, std::string_view name, Stream stream);
    ReportedRound(const ReportedRound&) = delete;
    ReportedRound& operator=(const ReportedRound&) = delete;
    ~ReportedRound();

  private:
    const TimeUse& of_;
    WorkerObserver::Token token_ = 0;
};

/// The mean of the values added; empty if there are none.
class MeanOf {
  public:
    void add(double value) {
        sum_ += value;
        ++count_;
    }
    [[nodiscard]] std::optional<double> value() const {
        if (count_ == 0) return std::nullopt;
        return sum_ / static_cast<double>(count_);
    }

  private:
    double sum_ = 0;
    std::int64_t count_ = 0;
};

/// Stores when members entered the rounds that are in progress.
class RoundEntries {
  private:
    friend class RoundTimer;

    struct Entries {
        std::size_t entered = 0;
        std::size_t left = 0;
        Time last{};
        std::vector<Time> of_member{};  // used where a member depends on some members only
    };

    std::map<Stream, Entries> rounds_;
};

/// RAII guard: one member's part in a round, which it enters on construction and leaves on
/// destruction.
class RoundTimer {
  public:
    /// Enters a round in which every member depends on all members.
    RoundTimer(RoundEntries& all, TimeUse& mine, std::string_view name, Stream key,
               std::size_t members);
    /// Enters a round in which member `rank` depends on the members `on`. Requires that all of them
    /// have entered when it leaves, and that `on` outlives this object.
    RoundTimer(RoundEntries& all, TimeUse& mine, std::string_view name, Stream key,
               std::size_t members, int rank, std::span<const int> on);
    RoundTimer(const RoundTimer&) = delete;
    RoundTimer& operator=(const RoundTimer&) = delete;
    ~RoundTimer();

  private:
    RoundEntries& all_;
    TimeUse& mine_;
    Stream key_;
    std::size_t members_;
    Time entered_;
    Duration computed_;
    std::span<const int> on_{};
    ReportedRound reported_;
};

}  // namespace paceline
