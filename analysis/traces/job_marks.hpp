// Records what a job has done by the end of its last whole steps, for a job that may be cut at any
// time.
//
// Every worker is sampled when it has taken a step, not when the run ends, so a step that was cut
// does not count:
//
//   step time  =  sum over workers of the time at which its last whole step ended
//                 / sum over workers of the gradients it had computed by then
//
// The same holds for its bytes and its compute time. Total bytes are those until the run ends.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/measures/metrics.hpp"
#include "sim/network/network_part.hpp"

namespace paceline {

class Cluster;

class JobMarks {
  public:
    /// Requires that the simulation and the network outlive this object.
    explicit JobMarks(NetworkPart network) : network_(network) {}

    /// Call before the run.
    void watch(const Cluster& cluster);
    /// Callback for Job::after_steps.
    void after_steps(int rank, std::int64_t k);
    /// Returns the metrics defined in analysis/measures/metrics.hpp. The outcome is "finished", or
    /// "main-ended" if the job was cut.
    [[nodiscard]] Metrics measured(bool finished, const RunFacts& facts) const;

  private:
    struct Mark {
        Time at;
        Duration compute{};
        std::int64_t gradients = 0;
        Traffic traffic;
    };

    NetworkPart network_;
    const Cluster* cluster_ = nullptr;
    std::vector<Mark> marks_;  // [rank], at its last whole step
};

}  // namespace paceline
