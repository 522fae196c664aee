// What a job has done by the end of its last whole steps: for a job that is cut at any time.
//
// Every worker is looked at when it has taken a step, not when the run ends, so that a step that
// was cut counts nowhere:
//
//   step time  =  sum over workers of the time at which its last whole step ended
//                 / sum over workers of the gradients it had computed then
//
// and so for its bytes and its computing. Total bytes are those until the run ends.
#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/cluster.hpp"
#include "analysis/metrics.hpp"
#include "sim/network/network_part.hpp"

namespace paceline {

class JobMarks {
  public:
    /// Requires that the simulation and the network outlive this.
    explicit JobMarks(NetworkPart network) : network_(network) {}

    /// Before the run.
    void watch(const Cluster& cluster);
    /// Job::after_steps.
    void after_steps(int rank, std::int64_t k);
    /// As analysis/metrics.hpp defines them; the outcome is "finished", or "main-ended" where it was
    /// cut.
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
