// The runs of a study that are still to do, given out longest first, so that the last ones to finish
// are short; and their results taken, kept in a folder and counted. Called by several threads.
#pragma once

#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "app/kept_points.hpp"
#include "app/study_progress.hpp"
#include "app/study_runs.hpp"

namespace paceline {

class Handout {
  public:
    /// Requires that all outlive this. `kept` may be null.
    Handout(const StudyRuns& runs, KeptPoints* kept, StudyProgress& progress)
        : runs_(runs), kept_(kept), progress_(progress), results_(runs.size()) {}

    /// Takes the results of those that are kept; gives the others.
    std::vector<std::size_t> take_kept(const std::vector<std::size_t>& wanted);
    void add(const std::vector<std::size_t>& to_do);

    std::optional<std::size_t> next();
    /// Keeps the result, unless it is an error. Throws OutputError when that cannot be done.
    void finished(std::size_t run, PointResult result);

    /// Of all runs; without an outcome: not there. Requires that no thread is at work.
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
