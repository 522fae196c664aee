// What a worker tells the observer of its job, as guards: a computation, a round or a wait is in
// progress while its guard is alive, so an observer also hears of those that a death or the end of
// the run cuts short.
#pragma once

#include <cstddef>

#include "algorithms/runtime/worker_observer.hpp"
#include "sim/engine/units.hpp"
#include "sim/network/network_observer.hpp"

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

/// A worker's wait for others, beside which it may compute. Requires that the observer outlives it.
class InWait {
  public:
    InWait(const WorkerObserver& observer, int host, WaitFor what)
        : observer_(observer),
          token_(observer.wait_begins ? observer.wait_begins(host, what) : 0) {}
    InWait(const InWait&) = delete;
    InWait& operator=(const InWait&) = delete;
    ~InWait() { notify(observer_.wait_ends, token_, over_); }

    /// Notes that what the worker waits for has come. A worker that is destroyed or gives up before
    /// has not waited.
    void note_over() { over_ = true; }

  private:
    const WorkerObserver& observer_;
    WorkerObserver::Token token_;
    bool over_ = false;
};

}  // namespace paceline
