// Runs points of a study concurrently on threads of one process. Each thread has its own event
// loop, and all share one pool for the arithmetic of gradients.
//
// The number of active threads never exceeds max(loops, `threads`). A loop takes part in its own
// arithmetic, and the pool gets the rest of `threads` that active loops leave over. As loops run
// out of work, the pool grows.
//
// A run that throws has failed: its outcome is "error" with the message, and the others continue.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <stop_token>

#include "app/run/results.hpp"
#include "app/study/study_progress.hpp"
#include "app/study/study_runs.hpp"

namespace paceline {

/// The source of runs and the sink of results. Several threads call these functions at once. An
/// exception from one of them ends the pool's work and propagates to its caller.
struct RunExchange {
    std::function<std::optional<std::size_t>()> next;  // returns a run's number; nothing: no more
    std::function<void(std::size_t run, PointResult result)> finished;
    /// Performs a run; empty: run_point. Any exception except OutputError counts as a failure of
    /// the run.
    std::function<Metrics(std::size_t run, const Scenario& scenario, Progress* progress)> run{};
};

struct PoolSize {
    std::size_t loops = 1;    // loops that run at the same time
    std::size_t threads = 1;  // for the arithmetic of all loops together
};

/// Runs all runs of an exchange. Returns when the exchange has no more runs and those in progress
/// have finished. After a stop was requested, it returns soon and drops the runs in progress.
using RunAll =
    std::function<void(const StudyRuns& runs, const PoolSize& size, const RunExchange& exchange,
                       StudyProgress& progress, const std::stop_token& stop)>;

/// Does so in this process.
void run_side_by_side(const StudyRuns& runs, const PoolSize& size, const RunExchange& exchange,
                      StudyProgress& progress, const std::stop_token& stop);

}  // namespace paceline
