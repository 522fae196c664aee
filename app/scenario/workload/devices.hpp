// The devices that nets are trained on and whose peak is known (models/devices.json).
#pragma once

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

}  // namespace paceline
