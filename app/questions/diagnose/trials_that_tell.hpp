// Measurements that could tell causes apart, and which of them does.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/questions/diagnose/diagnosed_point.hpp"

namespace paceline {

/// A measurement that could be made.
struct DiagnosedTrial {
    std::string what;
    std::string asked;  // for --measured, without the number
    DiagnosedPoint point;
    bool is_read_from_log = false;  // it needs no run of its own
};

/// Returns messages and collectives, the scenario's own step on fewer nodes, each node alone, and
/// the samples per second of the measured step. Those that the scenario refuses, and those that are
/// among the measured points, are left out.
std::vector<DiagnosedTrial> trials_to_tell(const DiagnosedPoint& main, const ScenarioText& scenario,
                                           const std::vector<DiagnosedPoint>& measured);

/// A trial as it would come out with each of several hypotheses.
struct ExpectedTrial {
    std::vector<double> logarithms;  // by hypothesis
    double device_seconds = 0;
};

/// Returns how much doubt is expected to be left among hypotheses of these weights: the mean
/// overlap of what two of them expect (Bhattacharyya's coefficient of two normal laws).
double doubt_left(const std::vector<double>& weights, const std::vector<double>& logarithms,
                  double noise);

/// Returns the cheapest of those that leave hardly more doubt than the best; nothing if even that
/// leaves more than 0.9 of it.
std::optional<std::size_t> trial_that_tells(const std::vector<double>& weights,
                                            const std::vector<ExpectedTrial>& trials, double noise);

}  // namespace paceline
