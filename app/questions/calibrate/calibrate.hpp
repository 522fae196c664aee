// `paceline calibrate`: which values of a scenario's constants explain what was measured, how sure
// that is, and what the rows leave open.
//
//   r_i  =  ln(predicted_i / measured_i)       for each measured column of each row
//
// The predictions are those of the simulator, with whole periods. Constants are free within ranges
// that the user gives, by their logarithm where a range lies above 0. analysis/fit says how the sum
// of r^2 is made least, and what intervals and weak combinations are. Where there are fewer rows
// than constants + 2, the residuals cannot tell the noise; a default is taken then, and said.
//
// Where the rows leave a combination of constants open, measurements that would tell are looked
// for (next_measurement.hpp).
//
// Limits: a row counts once, whatever its own uncertainty. A model that lacks an effect puts it
// into the constants that are free; the residuals show it only where these cannot take it.
#pragma once

#include "app/questions/calibrate/calibration.hpp"

namespace paceline {

/// Throws ConfigError before anything runs, or if a row has no value within the ranges, and what
/// the evaluator throws.
Calibration calibrate(const CalibrationQuestion& question, const Evaluate& evaluate);

}  // namespace paceline
