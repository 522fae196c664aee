#include "analysis/trust/time_interval.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "analysis/trust/misses.hpp"
#include "sim/engine/check.hpp"
#include "sim/numeric/elementary.hpp"

namespace paceline {

namespace {

constexpr double z = 1.6448536269514722;  // 95 % quantile of the normal distribution
constexpr double least_scale = 1e-3;      // a prediction is off by a little at least

double length_of(double a, double b) {
    return std::sqrt(a * a + b * b);
}

// Returns the root mean square; 0 of nothing.
double deviation_of(const std::vector<double>& errors) {
    double squares = 0;
    for (const double error : errors) squares += error * error;
    return errors.empty() ? 0 : std::sqrt(squares / static_cast<double>(errors.size()));
}

// Returns the bound of |x| on one side, from the model alone.
double most_missed(const MissedSide& side, const Circumstances& at) {
    const std::array<double, 5> shares{1, at.collective_alone ? at.exposed : 0,
                                       at.collective_alone ? 0 : at.exposed, at.hidden,
                                       at.unstated};
    double scale = 0;
    for (std::size_t i = 0; i < shares.size(); ++i) scale += side.slopes[i] * shares[i];
    return side.quantile * std::max(scale, least_scale);
}

// Returns how far an end is from the prediction because of the model alone.
double missed_at(double end, const TimeInterval& interval) {
    const double whole = elementary::log(end);
    const double constants = z * interval.constants;
    return std::sqrt(std::max(0.0, whole * whole - constants * constants));
}

// Returns what constants leave open of the ratio.
double open_of_ratio(const TimeInterval& one, const TimeInterval& other) {
    if (one.drawn.size() != other.drawn.size()) return length_of(one.constants, other.constants);
    std::vector<double> differences;
    for (std::size_t i = 0; i < one.drawn.size(); ++i)
        differences.push_back(one.drawn[i] - other.drawn[i]);
    return deviation_of(differences);
}

}  // namespace

TimeInterval interval_of(const Circumstances& circumstances, Constants constants,
                         std::vector<double> drawn) {
    PACELINE_CHECK(
        circumstances.exposed >= 0 && circumstances.hidden >= 0 && circumstances.unstated >= 0,
        "shares are at least 0");
    const Missed& missed = constants == Constants::fitted ? missed_with_fitted : missed_with_stated;
    const double rise = most_missed(missed.rise, circumstances);
    const double fall = most_missed(missed.fall, circumstances);
    const double s = deviation_of(drawn);
    return {circumstances.hidden,
            circumstances.unstated,
            s,
            elementary::exp(-length_of(fall, z * s)),
            elementary::exp(length_of(rise, z * s)),
            std::move(drawn)};
}

RatioInterval interval_of_ratio(const TimeInterval& one, const TimeInterval& other) {
    const double open = z * open_of_ratio(one, other);
    const auto error = [&](double slower, double faster) {
        return length_of(
            missed_of_ratio * length_of(missed_at(slower, one), missed_at(faster, other)), open);
    };
    return {elementary::exp(-error(one.low, other.high)),
            elementary::exp(error(one.high, other.low))};
}

}  // namespace paceline
