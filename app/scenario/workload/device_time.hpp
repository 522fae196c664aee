// How long a gradient takes on a device: measured, or estimated from the device's peak.
//
//   named in models/devices.json   measured, if the profile has a row for the device, the precision
//                                  and the batch, or rows for two other batches: then on the line
//                                  through the nearest, which is a floor and a time per sample;
//                                  with an efficiency: estimated by the peak in that precision
//   described in the scenario      estimated by "peak_flops", or relative to a measured device by
//                                  "like"
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/json/object_reader.hpp"
#include "app/scenario/cluster/node_speeds.hpp"
#include "app/scenario/workload/profiles.hpp"
#include "models/precision.hpp"
#include "sim/engine/units.hpp"

namespace paceline {

/// A net whose gradient is timed.
struct TimedNet {
    std::string name;
    std::shared_ptr<const std::vector<double>> tensor_macs;  // of the forward pass of a sample
    ChargedNetPtr charged;                  // null: a net that trains, or a number of bytes
    std::optional<std::int64_t> batch{};    // samples of a gradient
    Precision precision = Precision::fp32;  // for devices that state none
};

// A test checks scenario.schema.json against it.
Keys own_device_keys();

/// Returns the peak that a device of the scenario's own states, if it does. Requires that the
/// device has been read.
std::optional<double> peak_of_own_device(const Place& device);

/// Returns how long one gradient of one worker takes on a device. Throws ConfigError.
Duration time_on_device(const DeviceChoice& choice, const TimedNet& net);

}  // namespace paceline
