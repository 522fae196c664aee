// Runs a study, keeps what has finished, and writes what came out.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <vector>

#include "app/results.hpp"
#include "app/run_pool.hpp"
#include "app/study.hpp"
#include "app/study_progress.hpp"
#include "app/tracing.hpp"

namespace paceline {

struct StudyOptions {
    PoolSize pool;
    std::size_t loops_elsewhere = 0;  // that run points beside those of the pool
    RunAll run_all = run_side_by_side;
    Telling telling = Telling::nothing;
    std::optional<std::filesystem::path> keep_in{};  // a folder for finished points
    bool resume = false;                             // takes what is kept there
    std::stop_token stop{};
    Tracing* tracing = nullptr;  // null: nothing is traced
};

struct StudyOutcome {
    std::vector<PointResult> results;  // of points; without an outcome: not run
    std::size_t kept = 0;              // of them, from before
    bool complete = false;
};

/// Runs the points, longest first, and the baselines that they ask for. Results do not depend on
/// the pool. Each result is kept as soon as it is there. Points that are traced are run even if they
/// are kept. Throws OutputError when a file cannot be written.
StudyOutcome run_study(const Study& study, const StudyOptions& options);

/// The results of points in their order, without their baselines.
std::vector<PointResult> run_points(const Study& study, int jobs);

/// Throws ConfigError when the study would need more memory than the machine has to give.
void check_memory(const Study& study, int jobs);

/// Writes results.csv, table.txt and manifest.json, timeline.csv if anything trains, and summary.csv
/// if the seed is an axis; removes such a file of an earlier study. Points that were not run have no
/// rows. Throws OutputError.
void write_results(const std::filesystem::path& folder, const Study& study,
                   const std::vector<PointResult>& results, const RunInfo& info);

}  // namespace paceline
