// How long a study will still take, from what its runs were expected to cost and what they did cost.
//
//   factor  f = (k + seconds spent) / (k + seconds expected of what they were spent on)
//   left    = f x seconds expected of the rest / threads
//
// Runs under way count with the share of their simulated time that has passed, where that is known.
// The expectation weighs as much as k seconds of experience, k being small: a first guess is there
// at once, and forgotten soon.
#pragma once

#include <cstddef>
#include <span>

namespace paceline {

/// A run under way.
struct UnderWay {
    double expected_s = 0;
    double share_done = 0;  // 0 ... 1
    double spent_s = 0;
};

class TimeLeft {
  public:
    /// A run is to be done.
    void expects(double expected_s) { expected_s_ += expected_s; }
    void finished(double expected_s, double spent_s);
    [[nodiscard]] double seconds(std::span<const UnderWay> under_way, std::size_t threads) const;

  private:
    double expected_s_ = 0;  // of all runs
    double done_s_ = 0;      // of the expected
    double spent_s_ = 0;
};

}  // namespace paceline
