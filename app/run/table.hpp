// A table for people: what table.txt holds and `paceline run` prints.
//
// Points that differ only in the seed share a row or a cell: the mean of the seeds, then " ± " and
// the standard deviation (of a sample), then in parentheses how many seeds have the value if not
// all of them do. Machines with several devices have their number of devices beside that of nodes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "app/run/ran_points.hpp"

namespace paceline {

/// Returns speedups and below them efficiencies: a line per combination of the other axes, a column
/// per number of nodes or devices. Without a sweep over these, or if points train or have other
/// jobs, returns a line per point and job with its times, speedup and efficiency. Other jobs have
/// lines of their own with their own algorithm. With intervals, a second part has a line for all
/// machines: the fastest method, the next one, and those whose order with it is not sure.
std::string speedup_table(const RanPoints& ran);

/// Returns the first lines of a table; if there are more, the last line says where they are.
std::string first_lines(std::string_view table, std::size_t most, std::string_view file);

}  // namespace paceline
