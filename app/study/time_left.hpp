// Estimates the time left of a study from the expected and the actual cost of its runs.
//
//   factor  f = (k + seconds spent) / (k + seconds expected of what they were spent on)
//   left    = f x seconds expected of the rest / threads
//
// Runs in progress count with the share of their simulated time that has passed, if that is known.
// The expectation weighs as much as k seconds of experience. k is small, so that a first guess is
// available at once and soon gives way to measurements.
#pragma once

#include <cstddef>
#include <span>

namespace paceline {

/// A run in progress.
struct UnderWay {
    double expected_s = 0;
    double share_done = 0;  // 0 ... 1
    double spent_s = 0;
};

class TimeLeft {
  public:
    /// Adds a run that remains to be done.
    void expects(double expected_s) { expected_s_ += expected_s; }
    void finished(double expected_s, double spent_s);
    [[nodiscard]] double seconds(std::span<const UnderWay> under_way, std::size_t threads) const;

  private:
    double expected_s_ = 0;  // of all runs
    double done_s_ = 0;      // of those, expected seconds of finished runs
    double spent_s_ = 0;
};

}  // namespace paceline
