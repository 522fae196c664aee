// Which single cause explains measured numbers that a scenario does not.
//
// Every cause of causes.hpp is put into the scenario, at values over its range, and the measured
// points are simulated with it. evidence.hpp says what that is worth. A measured step on one
// machine sets the times of gradients for all, within what the noise allows. A cause explains the
// numbers if no row is off by more than three standard deviations of the noise.
//
// Causes whose predictions differ by less than half of the noise for all rows, and for all
// measurements that could be made, are one answer. Of those measurements, the one that tells
// answers apart is named: the cheapest, in seconds of devices, of those that leave hardly more
// doubt than the best. If no single cause explains the numbers, pairs are tried.
//
// Then changes of the scenario are simulated with each plausible cause in it; those that gain less
// than five percent of samples per second are left out.
#pragma once

#include "app/questions/asked_points.hpp"
#include "app/questions/diagnose/diagnosis.hpp"

namespace paceline {

/// Throws ConfigError, before anything runs if the question is wrong.
Diagnosis diagnose(const DiagnoseQuestion& question, const Evaluate& evaluate);

}  // namespace paceline
