// Runs the points of a study side by side, each on its own thread's event loop, and says how far it
// is.
#pragma once

#include <filesystem>
#include <vector>

#include "app/results.hpp"
#include "app/study.hpp"

namespace paceline {

/// Results in the order of points, whatever the number of jobs. Requires jobs >= 1. With
/// `show_progress` a line on standard error tells points done, simulated time, events per second
/// and time left.
std::vector<PointResult> run_points(const Study& study, int jobs, bool show_progress);

/// Throws ConfigError when the study would need more memory than the machine has to give.
void check_memory(const Study& study, int jobs);

/// Writes results.csv, table.txt and manifest.json, timeline.csv if anything trains, and summary.csv
/// if the seed is an axis; removes such a file of an earlier study. Throws OutputError.
void write_results(const std::filesystem::path& folder, const Study& study,
                   const std::vector<PointResult>& results, const RunInfo& info);

}  // namespace paceline
