// The free quantity of `paceline solve`: a path of the scenario and the range that its value moves
// in, such as cluster.fabric.link.bandwidth=100Mbps..100Gbps.
//
// Values are counted in the unit that the simulator computes in: bits per second, picoseconds, bytes,
// all whole; numbers as they are.
#pragma once

#include <cstdint>
#include <string>

namespace paceline {

enum class QuantityKind : std::uint8_t { bandwidth, duration, size, number, whole_number };

struct FreeQuantity {
    std::string path;
    QuantityKind kind = QuantityKind::number;
    double from = 0;
    double to = 0;

    /// 1 where values are whole in their unit; 0 for numbers.
    [[nodiscard]] double step() const;
    /// The value as scenarios have it.
    [[nodiscard]] std::string spelled(double value) const;
    /// The same to so many digits, for people.
    [[nodiscard]] std::string shown(double value, int digits) const;
    /// "path=value", as --set takes it.
    [[nodiscard]] std::string setting(double value) const;
    /// In bits per second, seconds, bytes; numbers as they are.
    [[nodiscard]] double in_base_unit(double value) const;
    [[nodiscard]] std::string base_unit() const;
};

/// Reads "path=from..to". Both ends are quantities with units of one kind, or numbers. Throws
/// ConfigError.
FreeQuantity read_free_quantity(const std::string& text);

}  // namespace paceline
