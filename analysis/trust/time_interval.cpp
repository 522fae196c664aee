#include "analysis/trust/time_interval.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "analysis/trust/misses.hpp"
#include "sim/engine/check.hpp"
#include "sim/numeric/elementary.hpp"

namespace paceline {

namespace {

constexpr double z = 1.6448536269514722;  // 95 % quantile of the normal distribution
constexpr double least_scale = 1e-3;      // a prediction is off by a little at least

// Returns the bound of |x| on one side, from the model alone.
double most_missed(const MissedSide& side, const Circumstances& at) {
    const std::array<double, 5> shares{1, at.collective_alone ? at.exposed : 0,
                                       at.collective_alone ? 0 : at.exposed, at.hidden,
                                       at.unstated};
    double scale = 0;
    for (std::size_t i = 0; i < shares.size(); ++i) scale += side.slopes[i] * shares[i];
    return side.quantile * std::max(scale, least_scale);
}

}  // namespace

TimeInterval interval_of(const Circumstances& circumstances, Constants constants, double s) {
    PACELINE_CHECK(circumstances.exposed >= 0 && circumstances.hidden >= 0 &&
                       circumstances.unstated >= 0 && s >= 0,
                   "shares and deviations are at least 0");
    const Missed& missed = constants == Constants::fitted ? missed_with_fitted : missed_with_stated;
    const double rise = most_missed(missed.rise, circumstances);
    const double fall = most_missed(missed.fall, circumstances);
    return {circumstances.hidden, circumstances.unstated, s,
            elementary::exp(-std::hypot(fall, z * s)), elementary::exp(std::hypot(rise, z * s))};
}

RatioInterval interval_of_ratio(const TimeInterval& one, const TimeInterval& other) {
    const auto error = [](double slower, double faster) {
        return missed_of_ratio * std::hypot(elementary::log(slower), elementary::log(faster));
    };
    return {elementary::exp(-error(one.low, other.high)),
            elementary::exp(error(one.high, other.low))};
}

}  // namespace paceline
