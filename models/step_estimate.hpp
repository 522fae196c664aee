// Estimates the time of an unmeasured training step from a device's peak.
//
//   T1 = 3 * 2 * macs * batch / (peak_flops * efficiency)
//
// A multiply-accumulate is two floating-point operations, and the backward pass costs twice the
// forward pass (models/profile.hpp). `efficiency` is the share of the peak that training reaches.
// The estimate assumes that this share does not depend on the batch. Nets of wide 3 x 3
// convolutions are faster than any share in (0, 1], because fast algorithms save multiplications
// (docs/models/compute.md).
#pragma once

#include <cstdint>

#include "sim/engine/units.hpp"

namespace paceline {

/// Median of the built-in profiles' measurements on devices with a known peak (quartiles 0.40,
/// 0.73).
constexpr double default_efficiency = 0.49;

/// Returns the floating-point operations of a step: 3 * 2 * macs * batch.
double estimated_step_flops(double macs, std::int64_t batch);

/// Returns Duration::max() if the time exceeds the clock's range. Requires macs and batch >= 0,
/// peak and efficiency > 0.
Duration estimated_step(double macs, std::int64_t batch, double peak_flops, double efficiency);

}  // namespace paceline
