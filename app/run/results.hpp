// The results of a study: results.csv and its relatives, and a table for people.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/measures/metrics.hpp"
#include "app/scenario/study.hpp"

namespace paceline {

struct PointResult {
    Metrics metrics;
    double wall_clock_s = 0;
};

/// Returns the numeric columns of results.csv except `point` and `nodes`.
std::vector<std::string_view> column_names();

/// Returns the value of a column; nothing if it is empty. Requires the name of such a column.
std::optional<double> column_value(std::string_view name, const Metrics& metrics);

/// Returns one row per point, in the study's order. The same study always gives the same bytes.
std::string results_csv(const Study& study, const std::vector<PointResult>& results);

/// Returns one row per evaluation of each point that trains.
std::string timeline_csv(const Study& study, const std::vector<PointResult>& results);

/// Returns mean, standard deviation and count over the seeds, if "seed" is an axis: one row for
/// each combination of the other axes.
std::optional<std::string> summary_csv(const Study& study, const std::vector<PointResult>& results);

/// Returns speedups: a line per combination of the other axes, a column per number of nodes.
/// Without a sweep over nodes, returns a line per point with its step time, closed form and
/// speedup.
std::string speedup_table(const Study& study, const std::vector<PointResult>& results);

}  // namespace paceline
