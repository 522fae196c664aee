// The devices that nets are trained on and whose peaks are known (models/devices.json).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/json/object_reader.hpp"
#include "models/precision.hpp"
#include "sim/engine/units.hpp"

namespace paceline {

struct Peak {
    Precision precision = Precision::fp32;
    double flops =
        0;  // operations per second, dense: a multiply-accumulate is two, and no zeros are skipped
};

/// What a device draws.
struct Watts {
    double most = 0;  // the limit of its board
    std::optional<double> idle{};
    std::string source;
};

/// What a cloud asks for an hour of one device, on demand.
struct ListPrice {
    double per_hour = 0;
    std::string currency;
    std::string date;  // when it was listed
    std::string source;
};

struct Device {
    std::string name;
    std::string title;
    std::vector<Peak> peaks;  // fp32 first
    std::string source;       // of the peaks
    std::optional<Bytes> memory{};
    std::string memory_source{};
    std::optional<Watts> watts{};
    std::optional<ListPrice> price{};

    /// Returns the operations per second, or nothing if the device has no peak in this precision.
    [[nodiscard]] std::optional<double> peak(Precision precision) const;
};

/// Returns all devices in the order of the file, slowest first. The file is read once.
const std::vector<Device>& device_table();

/// Returns the device of a name, or null if the table does not have it.
const Device* known_device(std::string_view name);

/// Reads the name of a precision. Throws ConfigError.
Precision as_precision(const Place& place);

/// Says how to state the speed of a device that is not listed, for a net of `macs` forward
/// multiply-accumulates per sample (0: not known).
std::string how_to_state_another(double macs, std::int64_t batch);

}  // namespace paceline
