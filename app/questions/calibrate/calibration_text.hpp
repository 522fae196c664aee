// What `paceline calibrate` found, for people.
#pragma once

#include <string>

#include "app/questions/calibrate/calibration.hpp"

namespace paceline {

/// Returns the rows before and after, the constants with their intervals, the noise, what the rows
/// leave open and what would tell, and rows that nothing explains.
std::string calibration_text(const Calibration& calibration);

}  // namespace paceline
