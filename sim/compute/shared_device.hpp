// How much of a device is left for computing while its collectives are in progress.
//
// Kernels of a communication library hold the share s of the device (Library::occupies) as long as
// at least one collective of the device is in progress, whether it moves data or waits. A(t, u) is
// how long that was so between t and u. Work that takes w alone and begins at t ends at the least u
// with
//
//   u = t + w + s A(t, u)
//
// The end is approached from below: u_0 = t + w, u_(k+1) = t + w + s A(t, u_k), each looked at when
// it has come, because nobody knows before which collectives begin meanwhile. What is left shrinks
// by s each time, to the picosecond in log(w) / log(1/s) looks: 14 for 1 s and s = 0.12.
//
// Limits: the share is one for all collectives, and does not grow where several are in progress;
// the memory's bandwidth, which both sides share, counts as part of s.
#pragma once

#include <cmath>

#include "sim/engine/units.hpp"

namespace paceline {

class CollectivesOnDevice {
  public:
    void begin(Time now) {
        if (in_progress_++ == 0) since_ = now;
    }
    void end(Time now) {
        if (--in_progress_ == 0) total_ += now - since_;
    }
    /// Returns how long collectives have been in progress until `now`.
    [[nodiscard]] Duration until(Time now) const {
        return in_progress_ == 0 ? total_ : total_ + (now - since_);
    }

  private:
    int in_progress_ = 0;
    Time since_{};
    Duration total_{};
};

/// Work in progress on a device:
///
///   const WorkOnDevice work(collectives, share, now, alone);
///   do co_await sleep(work.left(now)); while (work.left(now) > 0);
///
/// Requires that `collectives` outlives it.
class WorkOnDevice {
  public:
    WorkOnDevice(const CollectivesOnDevice& collectives, double share, Time begin, Duration alone)
        : collectives_(collectives),
          share_(share),
          begin_(begin),
          before_(collectives.until(begin)),
          alone_(alone) {}

    [[nodiscard]] Duration alone() const { return alone_; }
    /// Returns how long the work goes on from `now`, at least.
    [[nodiscard]] Duration left(Time now) const {
        return sum(alone_, held_until(now)) - (now - begin_);
    }
    /// Returns what the kernels of collectives have taken of the work's time until `now`.
    [[nodiscard]] Duration held_until(Time now) const {
        const Duration beside = collectives_.until(now) - before_;
        return Duration{std::llround(share_ * static_cast<double>(beside.count()))};
    }

  private:
    const CollectivesOnDevice& collectives_;
    double share_;
    Time begin_;
    Duration before_;
    Duration alone_;
};

}  // namespace paceline
