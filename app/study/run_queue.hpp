// Queue of the runs of a study that remain to be done. Hands out the longest first, so that the
// last ones to finish are short. Also collects the results, stores them in a folder and counts
// them. Thread-safe.
#pragma once

#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "app/study/kept_points.hpp"
#include "app/study/study_progress.hpp"
#include "app/study/study_runs.hpp"

namespace paceline {

class RunQueue {
  public:
    /// Requires that all arguments outlive this object. `kept` may be null.
    RunQueue(const StudyRuns& runs, KeptPoints* kept, StudyProgress& progress)
        : runs_(runs), kept_(kept), progress_(progress), results_(runs.size()) {}

    /// Takes over the results that are already stored, and returns the other runs.
    std::vector<std::size_t> take_kept(const std::vector<std::size_t>& wanted);
    void add(const std::vector<std::size_t>& to_do);

    std::optional<std::size_t> next();
    /// Stores the result unless it is an error. Throws OutputError if it cannot be stored.
    void finished(std::size_t run, PointResult result);

    /// Returns the results of all runs. A result without an outcome is missing. Requires that no
    /// other thread is using this object.
    [[nodiscard]] std::vector<PointResult>& results() { return results_; }

  private:
    const StudyRuns& runs_;
    KeptPoints* kept_;
    StudyProgress& progress_;
    std::mutex mutex_;
    std::deque<std::size_t> to_do_;
    std::vector<PointResult> results_;
};

}  // namespace paceline
