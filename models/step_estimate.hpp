// The time of a training step that nobody has measured, from a device's peak.
//
//   T1 = 3 * 2 * macs * batch / (peak_flops * efficiency)
//
// Two floating-point operations per multiply-accumulate, forward and twice as much again backward
// (models/profile.hpp). `efficiency` is the share of the peak that training reaches. Assumes that
// this share does not depend on the batch; nets of wide 3 x 3 convolutions are faster than any
// share in (0, 1], because fast algorithms spare multiplications (docs/models.md, Compute).
#pragma once

#include <cstdint>

#include "sim/engine/units.hpp"

namespace paceline {

/// Median of the built-in profiles' measurements on devices of known peak (quartiles 0.40, 0.73).
constexpr double default_efficiency = 0.49;

/// Beyond the clock's range, Duration::max(). Requires macs and batch >= 0, peak and efficiency
/// > 0.
Duration estimated_step(double macs, std::int64_t batch, double peak_flops, double efficiency);

}  // namespace paceline
