// The results of a study: results.csv and its relatives. app/run/table.hpp has the table for
// people.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/run/ran_points.hpp"

namespace paceline {

/// Returns the numeric columns of results.csv except `point` and `nodes`. Tables leave some of them
/// out where no row has a value.
std::vector<std::string_view> column_names();

/// Returns the value of a column; nothing if it is empty. Requires the name of such a column.
std::optional<double> column_value(std::string_view name, const Metrics& metrics);

/// How a column follows the times of a run.
enum class Follows { nothing, time, rate };
Follows follows_of(std::string_view column);

/// Returns an end of what follows times that are multiplied by a factor from `times`. Requires that
/// it follows them.
double at_end(double value, Follows follows, const RatioInterval& times, bool is_high);

/// What identifies a row's point: its number, its values on the axes, its algorithm and nodes.
struct PointName {
    std::size_t number;
    const std::vector<std::size_t>& choice;
    std::string_view algorithm;
    int nodes;
};

/// Returns the columns of that, and the fields of a point there.
std::vector<std::string> point_headers(const std::vector<Axis>& axes);
std::vector<std::string> point_fields(const std::vector<Axis>& axes, const PointName& point);

/// Returns one row per point and job, in the study's order. The same study always gives the same
/// bytes.
std::string results_csv(const RanPoints& ran);

/// Returns one row per evaluation of each point that trains.
std::string timeline_csv(const RanPoints& ran);

/// Returns mean, standard deviation and count over the seeds, if "seed" is an axis: one row for
/// each combination of the other axes.
std::optional<std::string> summary_csv(const RanPoints& ran);

}  // namespace paceline
