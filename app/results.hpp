// What a study leaves: results.csv, a table for people, and the manifest.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/metrics.hpp"
#include "app/study.hpp"

namespace paceline {

struct PointResult {
    Metrics metrics;
    double wall_clock_s = 0;
};

/// The columns of results.csv that hold a number, but for `point` and `nodes`.
std::vector<std::string_view> column_names();

/// What stands in a column; nothing where it is empty. Requires a name of one.
std::optional<double> column_value(std::string_view name, const Metrics& metrics);

/// One row per point, in the study's order. The same study gives the same bytes.
std::string results_csv(const Study& study, const std::vector<PointResult>& results);

/// One row per evaluation of each point that trains.
std::string timeline_csv(const Study& study, const std::vector<PointResult>& results);

/// Mean, standard deviation and count over the seeds, if "seed" is an axis: one row for each
/// combination of the other axes.
std::optional<std::string> summary_csv(const Study& study, const std::vector<PointResult>& results);

/// Speedups: a line per combination of the other axes, a column per number of nodes; without a
/// sweep over nodes, a line per point with its step time, closed form and speedup.
std::string speedup_table(const Study& study, const std::vector<PointResult>& results);

struct RunInfo {
    int jobs;
    double wall_clock_s;
    bool complete = true;  // no point of the study is missing
};

/// What was run, by what, and what it cost: the only file in which two runs of a study may differ.
std::string manifest_json(const Study& study, const std::vector<PointResult>& results,
                          const RunInfo& info);

}  // namespace paceline
