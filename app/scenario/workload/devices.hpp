// The devices that nets are trained on and whose peak is known (models/devices.json).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/json/object_reader.hpp"

namespace paceline {

struct Device {
    std::string name;
    std::string title;
    double peak_flops = 0;  // fp32 operations per second; a multiply-accumulate is two
    std::string source;     // of the peak
};

/// Returns all devices in the order of the file, slowest first.
std::vector<Device> device_table();

/// Says how to state the speed of a device that is not listed, for a net of `macs` forward
/// multiply-accumulates per sample (0: not known).
std::string how_to_state_another(double macs, std::int64_t batch);

}  // namespace paceline
