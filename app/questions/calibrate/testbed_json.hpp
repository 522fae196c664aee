// The file that `paceline calibrate` writes, and that scenarios name as "cluster.testbed".
//
//   "title", "scenario", "program", "date"   where it is from
//   "level"       of the intervals
//   "noise"       {"share": standard deviation of a row, "assumed": whether rows cannot tell it}
//   "constants"   path, value, low, high, low_is_open, high_is_open, range [from, to]: as scenarios
//                 write them
//   "draws"       other values of the constants that the rows allow as well, by path: 12 draws
//   "open"        combinations that the rows leave open: constants [{path, factor}], most_change,
//                 and measure {what, seconds, device_seconds}, or null if nothing tried tells
//   "rows"        row, column, measured, before (null: no value), fitted, error, misfit
//   "cluster"     the scenario's cluster, with the constants
//   "workload"    constants of the workload, if there are any
//
// app/scenario/testbed.hpp says how scenarios take the last two, and the draws.
#pragma once

#include <string>
#include <string_view>

#include "app/questions/calibrate/calibration.hpp"

namespace paceline {

/// `program` and `date` are written as they are.
std::string testbed_json(const Calibration& calibration, std::string_view program,
                         std::string_view date);

}  // namespace paceline
