// What the methods of a job count for its results (`self.metrics()`), besides time (time_use.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "algorithms/rounds/sparse_round.hpp"
#include "algorithms/runtime/running_mean.hpp"
#include "sim/network/network_part.hpp"

namespace paceline {

class MethodMetrics {
  public:
    MethodMetrics(NetworkPart network, int workers) : network_(network), workers_(workers) {}

    /// Adds to the count of coordinates decoded wrongly, and notes that such decoding is in use.
    void count_decode_failures(std::int64_t failures) {
        decode_failures_ = decode_failures_.value_or(0) + failures;
    }
    /// Notes the age of something when it is used in training, in steps or in updates by others, as
    /// the method defines.
    void count_staleness(double age) { staleness_.add(age); }
    /// Notes a round of drawn clients: how many were asked, and how many of them contributed.
    void count_round(std::size_t asked, std::size_t contributed);
    /// Notes a sparse exchange in which all members have their result.
    void count_density(SparseRound& round);

    /// Returns how many coordinates all workers have decoded wrongly; empty if no decoding that can
    /// fail was used.
    [[nodiscard]] std::optional<std::int64_t> decode_failures() const { return decode_failures_; }
    /// Return the means of what was counted; empty if nothing was.
    [[nodiscard]] std::optional<double> staleness() const { return staleness_.value(); }
    [[nodiscard]] std::optional<double> participation() const { return participation_.value(); }
    /// Returns how many clients were asked in each round; nothing was added without rounds.
    [[nodiscard]] const RunningMean& clients() const { return clients_; }
    /// Returns what all workers have sent and received until the end of the last of these rounds.
    [[nodiscard]] const Traffic& traffic_of_rounds() const { return traffic_of_rounds_; }
    /// Returns the measured density of the sparse exchanges so far.
    [[nodiscard]] MeasuredDensity measured_density() const;

  private:
    NetworkPart network_;
    int workers_;
    std::optional<std::int64_t> decode_failures_{};
    RunningMean staleness_{};
    RunningMean participation_{};
    RunningMean clients_{};
    Traffic traffic_of_rounds_{};
    MeasuredDensity density_sums_{};
};

}  // namespace paceline
