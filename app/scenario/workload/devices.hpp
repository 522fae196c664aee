// The devices that nets are trained on and whose peaks are known (models/devices.json).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/json/object_reader.hpp"
#include "models/precision.hpp"

namespace paceline {

struct Peak {
    Precision precision = Precision::fp32;
    double flops =
        0;  // operations per second, dense: a multiply-accumulate is two, and no zeros are skipped
};

struct Device {
    std::string name;
    std::string title;
    std::vector<Peak> peaks;  // fp32 first
    std::string source;       // of the peaks

    /// Returns the operations per second, or nothing if the device has no peak in this precision.
    [[nodiscard]] std::optional<double> peak(Precision precision) const;
};

/// Returns all devices in the order of the file, slowest first.
std::vector<Device> device_table();

/// Reads the name of a precision. Throws ConfigError.
Precision as_precision(const Place& place);

/// Says how to state the speed of a device that is not listed, for a net of `macs` forward
/// multiply-accumulates per sample (0: not known).
std::string how_to_state_another(double macs, std::int64_t batch);

}  // namespace paceline
