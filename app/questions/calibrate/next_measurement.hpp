// Which measurement would tell constants apart that the rows leave open.
//
// Looked at are collectives of several sizes on two machines and on all, a message from one machine
// to another, and the scenario's own step on one, two and all nodes. Each is simulated at the fit,
// and once more with each constant moved, which gives its slope c. Along a weak direction v with
// the singular value sigma, the row added leaves the half-width
//
//   sqrt(rise / (sigma^2 + (c . v)^2))
//
// A measurement tells if that is at most `weak_from`. Of those, the one that takes the fewest
// seconds of devices is named.
#pragma once

#include <vector>

#include <Eigen/Core>

#include "analysis/fit/what_is_told.hpp"
#include "app/questions/calibrate/calibration.hpp"

namespace paceline {

/// A measurement that could be made, with what it would add.
struct PossibleMeasurement {
    NextMeasurement measurement;
    Eigen::VectorXd slopes;  // of ln(step_time_s), in the cube
};

/// Puts the constants at a place of the cube into a scenario: those of the cluster, and those of
/// its workload unless that is a collective's.
using PutConstants =
    std::function<void(Json& scenario, const Eigen::VectorXd& place, bool collective)>;

/// Simulates the measurements that could be made. Those that the scenario refuses are left out.
std::vector<PossibleMeasurement> possible_measurements(const CalibrationQuestion& question,
                                                       const Json& base, const Fit& fit,
                                                       const PutConstants& put,
                                                       AskedPoints& points);

/// Returns the cheapest one that tells, if there is one.
std::optional<NextMeasurement> cheapest_that_tells(const std::vector<PossibleMeasurement>& possible,
                                                   const WeakDirection& direction, double rise);

}  // namespace paceline
