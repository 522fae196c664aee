// What a worker tells the observer of its job, as guards: a computation or a round is in progress
// while its guard is alive, so an observer also hears of those that a death or the end of the run
// cuts short.
#pragma once

#include <cstddef>

#include "algorithms/runtime/observer.hpp"
#include "sim/engine/units.hpp"
#include "sim/network/observer.hpp"

namespace paceline {

/// A computation on a host. Requires that the observer outlives it.
class Computing {
  public:
    Computing(const WorkerObserver& observer, int host, Work work)
        : observer_(observer),
          token_(observer.computing_begins ? observer.computing_begins(host, work) : 0) {}
    Computing(const Computing&) = delete;
    Computing& operator=(const Computing&) = delete;
    ~Computing() { notify(observer_.computing_ends, token_); }

    /// Reports that a bucket of a gradient was computed in a span.
    void report_bucket(std::size_t bucket, Time from, Time until) const {
        notify(observer_.bucket, token_, bucket, from, until);
    }

  private:
    const WorkerObserver& observer_;
    WorkerObserver::Token token_;
};

/// One worker's part in a round. Requires that the observer and what the part refers to outlive it.
class InRound {
  public:
    InRound(const WorkerObserver& observer, int host, const RoundPart& part)
        : observer_(observer),
          token_(observer.round_begins ? observer.round_begins(host, part) : 0) {}
    InRound(const InRound&) = delete;
    InRound& operator=(const InRound&) = delete;
    ~InRound() { notify(observer_.round_ends, token_); }

  private:
    const WorkerObserver& observer_;
    WorkerObserver::Token token_;
};

/// A worker's wait at a barrier. Requires that the observer outlives it.
class AtBarrier {
  public:
    AtBarrier(const WorkerObserver& observer, int host)
        : observer_(observer),
          token_(observer.barrier_begins ? observer.barrier_begins(host) : 0) {}
    AtBarrier(const AtBarrier&) = delete;
    AtBarrier& operator=(const AtBarrier&) = delete;
    ~AtBarrier() { notify(observer_.barrier_ends, token_, opened_); }

    /// Notes that the barrier has opened. A worker that is destroyed or gives up before has not
    /// waited for others.
    void note_opened() { opened_ = true; }

  private:
    const WorkerObserver& observer_;
    WorkerObserver::Token token_;
    bool opened_ = false;
};

}  // namespace paceline
