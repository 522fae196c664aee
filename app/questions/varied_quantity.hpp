// The varied quantity of `paceline solve`: a path of the scenario and the range over which its
// value varies, such as cluster.fabric.link.bandwidth=100Mbps..100Gbps.
//
// Values are held in the units of the simulator: bits per second, picoseconds and bytes, all of
// them whole numbers. Plain numbers stay as they are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "app/json/json_file.hpp"

namespace paceline {

enum class QuantityKind : std::uint8_t { bandwidth, duration, size, number, whole_number };

struct VariedQuantity {
    std::string path;
    QuantityKind kind = QuantityKind::number;
    double from = 0;
    double to = 0;

    /// Returns the smallest step of the values: 1 if they are whole numbers of their unit, 0 for
    /// real numbers.
    [[nodiscard]] double step() const;
    /// Returns the value as it is written in scenarios.
    [[nodiscard]] std::string spelled(double value) const;
    /// Returns the value with this many digits.
    [[nodiscard]] double rounded(double value, int digits) const;
    /// Returns the same with this many digits, for people.
    [[nodiscard]] std::string shown(double value, int digits) const;
    /// Returns the value as JSON of scenarios has it.
    [[nodiscard]] Json written(double value) const;
    /// Returns "path=value", as --set takes it.
    [[nodiscard]] std::string setting(double value) const;
    /// Returns the value that the scenario states at the path, if it is of this kind.
    [[nodiscard]] std::optional<double> stated_in(const Json& scenario) const;
    /// Returns the value in bits per second, seconds or bytes. Plain numbers stay as they are.
    [[nodiscard]] double in_base_unit(double value) const;
    [[nodiscard]] std::string base_unit() const;
};

/// Reads "path=from..to", which was given with this option. Both ends are quantities with units of
/// one kind, or numbers. Throws ConfigError.
VariedQuantity read_varied_quantity(const std::string& text, const std::string& option = "--vary");

}  // namespace paceline
