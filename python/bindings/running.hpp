// Runs a study for Python: like `paceline run`, but results stay in memory unless a folder for them
// is named, and the models of the workers may be kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "app/study/manifest.hpp"
#include "app/study/run_study.hpp"
#include "models/tensors/layout.hpp"
#include "python/bindings/reading.hpp"

namespace paceline::python {

struct RunRequest {
    ReadStudyPtr read;
    PoolSize pool;
    std::string out;      // folder for results; empty: none is written
    bool resume = false;  // take over the points that are finished there
    bool force = false;   // replace results of another scenario there
    bool models = false;  // keep the models of the workers at the end
};

/// The models of all workers of a point at its end.
struct Models {
    LayoutPtr layout;
    std::int64_t workers = 0;
    std::vector<double> values;  // worker by worker, in the order of the layout
};

/// What a study has given.
struct RanStudy {
    ReadStudyPtr read;
    StudyOutcome outcome;
    RunInfo info;
    std::map<std::size_t, Models> models;  // by the index of the point; only of points that train
    std::vector<std::string> warnings;     // about the folder
};
using RanStudyPtr = std::shared_ptr<const RanStudy>;

/// Where a study stands.
struct Standing {
    std::size_t done = 0;  // points
    std::size_t points = 0;
    std::string line;  // in words, as the progress line of `paceline run`; empty: it has not begun
};

/// Another thread may ask where a study stands while it runs.
class StandingOfStudy {
  public:
    void follow(const StudyProgress* progress, std::size_t points);
    [[nodiscard]] Standing now() const;

  private:
    mutable std::mutex mutex_;
    const StudyProgress* progress_ = nullptr;  // null: the study does not run
    Standing last_;
};

class RunJob : public JobFor<RanStudyPtr> {
  public:
    /// Begins to run. Once stopped, the job ends soon, with the points that have finished. Throws
    /// OutputError if the folder cannot be written, is in use, or holds results of another
    /// scenario.
    explicit RunJob(RunRequest request);

    [[nodiscard]] Standing standing() const { return standing_->now(); }

  private:
    RunJob(RunRequest request, std::shared_ptr<StandingOfStudy> standing);

    std::shared_ptr<StandingOfStudy> standing_;
};

}  // namespace paceline::python
