// The mean of values that are added one by one.
#pragma once

#include <cstdint>
#include <optional>

namespace paceline {

class RunningMean {
  public:
    void add(double value) {
        sum_ += value;
        ++count_;
    }
    [[nodiscard]] double total() const { return sum_; }
    [[nodiscard]] std::int64_t count() const { return count_; }
    /// Returns the mean; empty if nothing was added.
    [[nodiscard]] std::optional<double> value() const {
        if (count_ == 0) return std::nullopt;
        return sum_ / static_cast<double>(count_);
    }

  private:
    double sum_ = 0;
    std::int64_t count_ = 0;
};

}  // namespace paceline
