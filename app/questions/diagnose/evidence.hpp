// How well a cause explains measured numbers, from what the simulator predicts at a few values.
//
// A residual is ln(predicted / measured). It is normal with the standard deviation `noise`. The
// value of a cause is log-normal within hard limits, and so is the factor on the times of gradients
// where a row on one machine measures it. The evidence of a cause is the mean likelihood over these
// laws:
//
//   E = integral p(v) integral p(s) prod_i exp(-r_i(v, s)^2 / 2 noise^2) ds dv
//
// so a cause that fits at any of its usual values counts more than one that has to be chosen with
// care. Between simulated values, residuals are linear in ln v, and in ln s by their slopes; the
// integral over ln s then has a closed form.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace paceline {

/// What the simulator predicts with a cause at one value.
struct PredictedRows {
    double at = 0;                 // ln of the value; 0 of a cause that is there or not
    double compute = 0;            // ln of the factor on the times of gradients
    std::vector<double> rows;      // ln of each measured number, as it is predicted
    std::vector<double> slopes{};  // d rows / d compute
};

/// The law of ln v: normal, cut off at both ends.
struct ValueLaw {
    double mean = 0;
    double deviation = 1;
    double from = 0;
    double to = 0;
};

struct MeasuredRows {
    std::vector<double> logarithms;  // of the measured numbers
    double noise = 0;
    double compute_deviation = 0;  // of ln s; 0: the scenario's times of gradients stand
};

struct Judgement {
    double at = 0;        // the most plausible ln v
    double compute = 0;   // and ln s with it
    double evidence = 0;  // ln E
};

/// Judges a cause by its predictions, which are ordered by `at` and at least one. Without a law,
/// all of their range is as likely.
Judgement judge(const std::vector<PredictedRows>& predicted, const MeasuredRows& measured,
                const std::optional<ValueLaw>& law);

/// Returns how much each of several hypotheses has of their evidence. They sum to 1.
std::vector<double> shares_of(const std::vector<double>& evidence);

/// Returns the row that is farthest off, in standard deviations of the noise.
double farthest_row(const std::vector<double>& rows, const MeasuredRows& measured);

}  // namespace paceline
