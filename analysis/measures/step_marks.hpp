// Records what the workers of a job have done by the ends of their steps, so that rates are those
// of whole steps and whole periods wherever the run is cut.
//
// Every worker is sampled when it has taken a step, not when the run ends. For the last whole step
// of each worker, and for the last one that ends a period of the algorithm, the tally is
//
//   time       mean over workers of the time at which it ended
//   gradients, computing, bytes   sums over workers of what each had done by then
//
// A step that was cut does not count, nor does a period that the end of the run cuts. Where the
// first steps are left out, the tally is the difference to that of each worker at their end.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/measures/metrics.hpp"
#include "sim/network/network_part.hpp"

namespace paceline {

class StepMarks {
  public:
    /// `ends_period(k)` returns whether a period ends with the k-th step; null: every step ends
    /// one. The first `skipped` steps of each worker, whole periods, are not tallied. Requires that
    /// the simulation and the network outlive this object.
    explicit StepMarks(NetworkPart network, RunFacts facts,
                       std::function<bool(std::int64_t k)> ends_period = {},
                       std::int64_t skipped = 0)
        : network_(network),
          facts_(std::move(facts)),
          ends_period_(std::move(ends_period)),
          skipped_(skipped) {}

    /// Call before the run.
    void watch(const Cluster& cluster);
    /// Callback for Job::after_steps.
    void after_steps(int rank, std::int64_t k);

    /// Returns the tally from the end of the skipped steps to the last whole period of each worker;
    /// empty if some worker has none.
    [[nodiscard]] std::optional<Tally> at_periods() const;
    /// Returns the tally of whole steps, for runs that are cut before a whole period: up to the
    /// last one of each worker, or up to now if some worker has computed nothing in one. Empty if
    /// nobody has.
    [[nodiscard]] std::optional<Tally> at_steps() const;
    /// Returns whether some worker has taken a whole step, since the last restart if there was one.
    [[nodiscard]] bool any_step() const;
    /// Returns the metrics of a job that may be cut at any time. The clock and the iterations are
    /// those of its last whole steps; total bytes are those until the run ends. The outcome is
    /// "finished", or "main-ended" if the job was cut.
    [[nodiscard]] Metrics measured(bool finished) const;

  private:
    struct Mark {
        std::int64_t k = 0;  // steps taken
        Duration at{};
        Duration compute{};
        std::int64_t gradients = 0;
        Traffic traffic;
    };

    /// Returns what happened between two marks of a worker.
    [[nodiscard]] static Mark since(const Mark& begin, const Mark& end);
    /// Returns the tally of what mark_of(rank) returns for each worker.
    template <class MarkOf>
    [[nodiscard]] Tally tally_of(const MarkOf& mark_of) const;

    NetworkPart network_;
    RunFacts facts_;
    std::function<bool(std::int64_t k)> ends_period_;
    std::int64_t skipped_;
    const Cluster* cluster_ = nullptr;
    std::vector<Mark> begins_;   // [rank], at the end of the skipped steps; empty: none are
    std::vector<Mark> steps_;    // [rank], at its last whole step
    std::vector<Mark> periods_;  // [rank], at its last whole period; empty: that of steps_
};

}  // namespace paceline
