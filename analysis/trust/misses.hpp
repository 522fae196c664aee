// What predictions have missed on validated testbeds. tools/trust.py writes this file; do not edit
// it. time_interval.hpp says what the numbers are.
#pragma once

#include <array>

namespace paceline {

struct MissedSide {
    std::array<double, 5> slopes;  // of 1, exposed (a collective alone), exposed, hidden, unstated
    double quantile;
};

struct Missed {
    MissedSide rise;
    MissedSide fall;
};

inline constexpr Missed missed_with_stated{
    {{0.01273, 0.08793, 0.01454, 0.2077, 0.3021}, 4.143},
    {{0.001616, 0.01505, 0.12, 0.0007047, 0}, 8.433}};
inline constexpr Missed missed_with_fitted{
    {{0.01132, 0.07314, 0.04062, 0.2054, 0}, 5.13},
    {{0.0008158, 0.02017, 0.146, 0.005772, 0}, 7.312}};

/// Of two methods on the same machines: what the ratio misses, over what independent errors would.
inline constexpr double missed_of_ratio = 0.451;

}  // namespace paceline
