// Runs of a study side by side on threads of one process: an event loop each, and one pool for the
// arithmetic of gradients among them.
//
// Threads at work never exceed max(loops, `threads`): a loop takes part in its own arithmetic, and
// the pool has what the loops that are still at work leave of `threads`; as loops run out of work the
// pool grows.
//
// A run that throws has failed: its outcome is "error", with what it said, and the others go on.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <stop_token>

#include "app/results.hpp"
#include "app/study_progress.hpp"
#include "app/study_runs.hpp"

namespace paceline {

/// Where runs come from and where their results go; called by several threads at once. What these
/// throw ends the pool's work and is thrown by it.
struct RunExchange {
    std::function<std::optional<std::size_t>()> next;  // the number of a run; nothing: no more
    std::function<void(std::size_t run, PointResult result)> finished;
    /// What a run is; empty: run_point. What it throws is the run's failure, but for OutputError.
    std::function<Metrics(std::size_t run, const Scenario& scenario, Progress* progress)> run{};
};

struct PoolSize {
    std::size_t loops = 1;    // that run at a time
    std::size_t threads = 1;  // for the arithmetic of all of them together
};

/// A way to run all runs of an exchange. Returns when the exchange has no more runs and those under
/// way have finished, or soon after a stop was requested: runs under way are then dropped.
using RunAll =
    std::function<void(const StudyRuns& runs, const PoolSize& size, const RunExchange& exchange,
                       StudyProgress& progress, const std::stop_token& stop)>;

/// That, in this process.
void run_side_by_side(const StudyRuns& runs, const PoolSize& size, const RunExchange& exchange,
                      StudyProgress& progress, const std::stop_token& stop);

}  // namespace paceline
