// Runs a study, stores each result as it finishes, and writes the final files.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "app/run/results.hpp"
#include "app/scenario/study.hpp"
#include "app/study/link_records.hpp"
#include "app/study/manifest.hpp"
#include "app/study/run_pool.hpp"
#include "app/study/study_progress.hpp"
#include "app/study/tracing.hpp"

namespace paceline {

inline constexpr std::chrono::days time_to_forget{30};

struct StudyOptions {
    PoolSize pool;
    std::size_t loops_elsewhere = 0;  // that run points besides those of the pool
    RunAll run_all = run_side_by_side;
    Telling telling = Telling::nothing;
    std::optional<std::filesystem::path> keep_in{};  // folder for finished points
    bool resume = false;                             // reuse the results stored there
    std::stop_token stop{};
    std::function<void()> begins{};  // called before the first point runs
    Tracing* tracing = nullptr;      // null: no tracing
    LinkRecords* links = nullptr;    // null: no links.csv
};

struct StudyOutcome {
    std::vector<PointResult> results;  // one per point; without an outcome: not run
    std::size_t kept = 0;              // number of them from an earlier run
    bool complete = false;
    std::vector<std::string> warnings{};  // about entries of the folder for finished points
};

/// Runs the points, longest first, and the baselines that they ask for. Results do not depend on
/// the pool. Each result is stored as soon as it is available. Traced points are run even if their
/// results are already stored, and so are points whose links are wanted and not recorded yet. When
/// all points are done, removes stored results that no study has used for `time_to_forget`. Throws
/// OutputError if a file cannot be written.
StudyOutcome run_study(const Study& study, const StudyOptions& options);

/// Writes results.csv, table.txt and manifest.json, timeline.csv if anything trains, and
/// summary.csv if the seed is an axis. Removes files of these names that an earlier study left, and
/// answers.csv.
/// Points that were not run have no rows. Throws OutputError.
void write_results(const std::filesystem::path& folder, const Study& study,
                   const std::vector<PointResult>& results, const RunInfo& info);

/// Does the same. If the tables change, removes the figures that were drawn from those before, and
/// returns their names: they would be taken for figures of these. Throws OutputError.
std::vector<std::string> replace_results(const std::filesystem::path& folder, const Study& study,
                                         const std::vector<PointResult>& results,
                                         const RunInfo& info);

}  // namespace paceline
