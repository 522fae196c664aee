// What a worker waits for when it does not compute.
//
// The time of a run is divided, for each worker, into
//
//   computing         gradients, updates, coding; those that the end of the run cuts short, too
//   stragglers        waiting for workers that had not come yet:
//                     - in a round of a collective that it enters at t and leaves at e, with T the
//                       time at which the last member that it depends on has entered (all of its
//                       group, or those it listens to): min(T, e) - t, less what it has computed
//                       in the round. T counts as e if not all have entered by then (trees).
//                     - at a meeting of all (Worker::meet), and from its last step on until the
//                       run ends, because others still work
//   dead              from the death of another until what that had broken was begun again
//   away              while it was not there itself
//   checkpoints       writing them
//   network           the rest: messages of rounds, letters and answers, and what is left of a
//                     round that a limit cut short
//
// A worker that computes while a round is under way is taken to compute first and to wait then,
// which is so for every non-blocking round here. Rounds that overlap are not counted twice. The
// waits of one worker are intervals in order of their ends.
//
// Costs two look-ups in a small map per round and worker; the entries of a round are forgotten when
// all of its members have left.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "algorithms/observer.hpp"
#include "sim/engine/simulation.hpp"
#include "sim/network/mailboxes.hpp"

namespace paceline {

/// How one worker has spent its time.
class TimeUse {
  public:
    /// Of the worker on a host of the network, who tells of it unless the observer is null.
    explicit TimeUse(const Simulation& simulation, const WorkerObserver* observer = nullptr,
                     int host = 0)
        : simulation_(&simulation), observer_(observer), host_(host) {}

    [[nodiscard]] Time now() const { return simulation_->now(); }

    /// Of all computations so far, those under way included.
    [[nodiscard]] Duration computed() const {
        return computed_ + under_way_ * (now() - counted_until_);
    }

    /// Notes a wait that ends at `until`, for others who had not come.
    void wait_for_stragglers(Duration time, Time until);
    /// Notes that the worker takes no more steps.
    void take_no_more_steps();
    /// Notes that it begins a step.
    void begin_step(std::int64_t k) const;
    /// Notes that its process has been dropped.
    void die() const;
    /// Notes that it takes steps again.
    void take_steps_again() { last_step_ended_ = never; }
    // Each of a time that ends now.
    void wait_for_dead(Duration time);
    void be_away(Duration time);
    void write_checkpoint(Duration time);

    /// Until the end of the run, which is `end`.
    [[nodiscard]] Duration waited_for_stragglers(Time end) const;
    [[nodiscard]] Duration waited_for_dead() const { return dead_; }
    [[nodiscard]] Duration away() const { return away_; }
    [[nodiscard]] Duration writing() const { return writing_; }
    /// What of a run until `end` is left.
    [[nodiscard]] Duration waited_for_network(Time end) const;

  private:
    friend class Computing;
    friend class ToldRound;

    void tell_of_wait(WaitFor what, Duration time, Time until) const;
    void change_under_way(int by);

    const Simulation* simulation_;
    const WorkerObserver* observer_;
    int host_;
    int under_way_ = 0;  // computations
    Duration computed_{};
    Time counted_until_{};  // through which computations have been counted
    Duration stragglers_{};
    Time waited_until_{};  // through which waits have been counted
    Time last_step_ended_ = never;
    Duration dead_{};
    Duration away_{};
    Duration writing_{};
};

/// A computation under way, from its construction until it goes.
class Computing {
  public:
    Computing(TimeUse& of, Work work);
    Computing(const Computing&) = delete;
    Computing& operator=(const Computing&) = delete;
    ~Computing();

    /// Tells of the part of a gradient that was computed in a span.
    void tell_of_bucket(std::size_t bucket, Time from, Time until) const;

  private:
    TimeUse& of_;
    WorkerObserver::Token token_ = 0;
};

/// A round that is told of, from its construction until it goes.
class ToldRound {
  public:
    ToldRound(const TimeUse& of, std::string_view name, Stream stream);
    ToldRound(const ToldRound&) = delete;
    ToldRound& operator=(const ToldRound&) = delete;
    ~ToldRound();

  private:
    const TimeUse& of_;
    WorkerObserver::Token token_ = 0;
};

/// The mean of what is added; none of nothing.
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

/// When the members of the rounds under way have entered.
class RoundEntries {
  private:
    friend class InRound;

    struct Entries {
        std::size_t entered = 0;
        std::size_t left = 0;
        Time last{};
        std::vector<Time> of_member{};  // where members depend on some alone
    };

    std::map<Stream, Entries> rounds_;
};

/// One member's part in a round: it enters with the construction and leaves when this goes.
class InRound {
  public:
    /// Of a round in which everybody depends on all.
    InRound(RoundEntries& all, TimeUse& mine, std::string_view name, Stream key,
            std::size_t members);
    /// Of one in which member `rank` depends on the members `on`, all of whom have entered when it
    /// leaves. `on` outlives this.
    InRound(RoundEntries& all, TimeUse& mine, std::string_view name, Stream key,
            std::size_t members, int rank, std::span<const int> on);
    InRound(const InRound&) = delete;
    InRound& operator=(const InRound&) = delete;
    ~InRound();

  private:
    RoundEntries& all_;
    TimeUse& mine_;
    Stream key_;
    std::size_t members_;
    Time entered_;
    Duration computed_;
    std::span<const int> on_{};
    ToldRound told_;
};

}  // namespace paceline
